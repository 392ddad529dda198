/*
 * cut.c: a raw page has hundreds of columns and a table needs a dozen, so the
 * others are skipped here, 64 bytes at a time, and libcsv sees only the wanted
 * fields.  A comma separates where an even number of quotes precedes it, which
 * holds for any line of well-formed fields; a line whose count of fields is not
 * the header's is left to libcsv as it is.
 */
#include "ncu.h"

typedef uint8_t v16 __attribute__((vector_size(16)));
typedef uint64_t v2 __attribute__((vector_size(16)));

enum { STEP = 64 };

/* Bit i of the result says that p[i] is c, for 16 bytes. */
static uint64_t
mask16(const char *p, char c)
{
	static const v16 bit = { 1, 2, 4, 8, 16, 32, 64, 128,
	    1, 2, 4, 8, 16, 32, 64, 128 };
	v16 bytes, all = (v16){ 0 } + (uint8_t)c;
	v2 hit;

	memcpy(&bytes, p, sizeof bytes);
	hit = (v2)((v16)(bytes == all) & bit);
	/* The eight bits of each half are disjoint: this sums them on top. */
	hit *= (v2){ 0, 0 } + 0x0101010101010101;
	return (hit[0] >> 56) | (hit[1] >> 56) << 8;
}

static uint64_t
mask64(const char *p, char c)
{
	return mask16(p, c) | mask16(p + 16, c) << 16 |
	    mask16(p + 32, c) << 32 | mask16(p + 48, c) << 48;
}

/* Bit i becomes the parity of bits 0 to i. */
static uint64_t
parity(uint64_t x)
{
	for (int n = 1; n < STEP; n *= 2)
		x ^= x << n;
	return x;
}

struct walk {
	const char *start;		/* of the field we are in */
	size_t	field, next;		/* its index; index into cut->want */
	size_t	len;			/* written to cut->buf */
};

static void
field_ends(struct cut *c, struct walk *w, const char *end)
{
	if (w->next < c->nwant && c->want[w->next] == w->field) {
		size_t n = (size_t)(end - w->start);

		memcpy(c->buf + w->len, w->start, n);
		w->len += n;
		c->buf[w->len++] = ',';
		w->next++;
	}
	w->field++;
	w->start = end + 1;
}

/* len: without the line's end.  False: give libcsv the line itself. */
bool
cut(struct cut *c, const char *line, size_t len, size_t *out_len)
{
	struct walk w = { .start = line };
	uint64_t inside = 0;		/* all ones within quotes */
	char last[STEP];

	c->buf = xgrow(c->buf, &c->cap, len + c->nwant + 2, 1);
	for (size_t at = 0; at < len; at += STEP) {
		const char *p = line + at;
		uint64_t in, ends;

		if (len - at < STEP) {
			memset(last, ' ', sizeof last);
			memcpy(last, p, len - at);
			p = last;
		}
		in = parity(mask64(p, '"')) ^ inside;
		inside = 0 - (in >> 63);
		ends = mask64(p, ',') & ~in;
		if (w.next == c->nwant || w.field +
		    (size_t)__builtin_popcountll(ends) <= c->want[w.next]) {
			if (ends != 0) {
				w.field += (size_t)__builtin_popcountll(ends);
				w.start = line + at + STEP -
				    __builtin_clzll(ends);
			}
			continue;
		}
		for (; ends != 0; ends &= ends - 1)
			field_ends(c, &w, line + at + __builtin_ctzll(ends));
	}
	field_ends(c, &w, line + len);
	if (inside != 0 || w.field != c->ncol || w.next != c->nwant)
		return false;
	c->buf[w.len - 1] = '\n';
	*out_len = w.len;
	return true;
}
