/*
 * waits.c: what an instruction waits for.  A sample is of the instruction that a
 * warp cannot issue yet, not of the one that keeps it waiting: where a scoreboard
 * is the reason, that is the last one before it which delivers late and writes a
 * register that it names (in a loop it may stand after it).
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "waits.h"

enum { N_FILES = 4, N_REGISTERS = 256 };	/* R, UR, P, UP */
enum { WINDOW = 4096 };		/* instructions that are looked at */
struct registers {
	bool	in[N_FILES][N_REGISTERS];
	size_t	n;
};

/* The instruction's own word, without predicate: "LDG" of "@P0 LDG.E.64 R2, ...". */
static const char *
mnemonic(const char *text)
{
	if (*text == '@') {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return text;
}

static bool
word_is(const char *s, const char *word)
{
	size_t n = strlen(word);

	return strncmp(s, word, n) == 0 && !isalnum((unsigned char)s[n]) && s[n] != '_';
}

/* What delivers late, in which scoreboard, and as what it is told. */
static const struct late {
	const char *word;
	enum wait kind;
	bool	 is_long;
} late[] = {
	{ "LDG", W_LOAD_GLOBAL, true }, { "LD", W_LOAD_GLOBAL, true },
	{ "LDL", W_LOAD_LOCAL, true }, { "ATOM", W_ATOMIC, true }, { "ATOMG", W_ATOMIC, true },
	{ "TEX", W_TEXTURE, true }, { "TLD", W_TEXTURE, true }, { "TLD4", W_TEXTURE, true },
	{ "SULD", W_TEXTURE, true }, { "SYNCS", W_MBARRIER, true }, { "LDTM", W_TENSOR_MEMORY, true },
	{ "LDS", W_LOAD_SHARED, false }, { "LDSM", W_LOAD_SHARED, false },
	{ "ATOMS", W_ATOMIC_SHARED, false }, { "SHFL", W_SHUFFLE, false },
	{ "MUFU", W_SPECIAL, false }, { "S2R", W_SPECIAL_REGISTER, false },
	{ "S2UR", W_SPECIAL_REGISTER, false }, { "LDC", W_CONSTANT, false },
	{ "R2UR", W_CONVERSION, false }, { "I2F", W_CONVERSION, false },
	{ "F2I", W_CONVERSION, false }, { "F2F", W_CONVERSION, false },
	{ "I2I", W_CONVERSION, false }, { "REDUX", W_SHUFFLE, false },
};

static const struct late *
late_of(const char *text)
{
	const char *s = mnemonic(text);

	for (size_t i = 0; i < sizeof late / sizeof *late; i++)
		if (word_is(s, late[i].word))
			return &late[i];
	return NULL;
}

enum wait
wait_of_producer(const char *text)
{
	const struct late *l = late_of(text);

	return l != NULL ? l->kind : W_NONE;
}

/* ---- registers that an instruction names */

static bool
register_at(const char *s, size_t *file, size_t *number, size_t *len)
{
	const char *p = s;
	size_t n = 0, digits;

	*file = 0;
	if (*p == 'U') {
		*file = 1;
		p++;
	}
	if (*p != 'R' && *p != 'P')
		return false;
	*file += *p++ == 'P' ? 2 : 0;
	digits = strspn(p, "0123456789");
	if (digits == 0 || digits > 3 || isalpha((unsigned char)p[digits]) || p[digits] == '_')
		return false;
	for (size_t i = 0; i < digits; i++)
		n = 10 * n + (size_t)(p[i] - '0');
	*number = n;
	*len = (size_t)(p - s) + digits;
	return n < N_REGISTERS;
}

static void
set(struct registers *r, size_t file, size_t number, size_t width)
{
	for (size_t i = number; i < number + width && i < N_REGISTERS; i++)
		if (!r->in[file][i]) {
			r->in[file][i] = true;
			r->n++;
		}
}

/* All that stand between two places of the text, each as wide as width or its own. */
static void
name_registers(struct registers *r, const char *s, const char *end, size_t width)
{
	size_t file, number, len;
	bool inside = false;		/* a word */

	while (s < end) {
		if (!inside && register_at(s, &file, &number, &len)) {
			s += len;
			set(r, file, number, file < 2 && strncmp(s, ".64", 3) == 0 &&
			    width < 2 ? 2 : file < 2 ? width : 1);
			inside = true;
			continue;
		}
		inside = isalnum((unsigned char)*s) || *s == '_';
		s++;
	}
}

static struct registers
named(const char *text)
{
	struct registers r = { .n = 0 };

	name_registers(&r, text, text + strlen(text), 1);
	return r;
}

/* ---- registers that it writes: the first operand, and the one after a predicate */

/* How many registers a load fills: LDG.E.128 four, LDSM.16.M88.2 two. */
static size_t
width_of(const char *s)
{
	size_t n = strcspn(s, " "), width = 1;
	bool matrices = word_is(s, "LDSM");
	const char *end = s + n;

	for (const char *p = s; (p = memchr(p, '.', (size_t)(end - p))) != NULL; ) {
		size_t len = strcspn(++p, ". ");

		if (len == 2 && strncmp(p, "64", 2) == 0)
			width = 2;
		else if (len == 3 && strncmp(p, "128", 3) == 0)
			width = 4;
		else if (len == 3 && strncmp(p, "256", 3) == 0)
			width = 8;
		else if (len == 1 && matrices && (*p == '2' || *p == '4'))
			width = (size_t)(*p - '0');
	}
	return width;
}

static bool
writes_nothing(const char *s)
{
	static const char *const none[] = { "BRA", "BRX", "JMP", "JMX", "CALL", "RET", "EXIT",
	    "BAR", "BSSY", "BSYNC", "BREAK", "NANOSLEEP", "WARPSYNC", "DEPBAR", "MEMBAR",
	    "ST", "STG", "STS", "STL", "STSM", "RED", "REDG", "REDS", "CCTL", "ERRBAR", "YIELD",
	    "NOP", "WARPGROUP", "UBLKCP", "UTMALDG", "UTMASTG", "LDGSTS", "LDGDEPBAR" };

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (word_is(s, none[i]))
			return true;
	return false;
}

static struct registers
written(const char *text)
{
	const char *s = mnemonic(text), *p = s + strcspn(s, " ");
	size_t width = late_of(text) != NULL ? width_of(s) : 1;
	struct registers r = { .n = 0 };

	for (int i = 0; i < 2 && !writes_nothing(s); i++) {
		size_t n;
		bool predicate;

		p += strspn(p, " ,");
		n = strcspn(p, ",");
		predicate = *p == 'P' || strncmp(p, "UP", 2) == 0;
		if (memchr(p, '[', n) != NULL || *p == '!' || *p == '-' || *p == '|' || n == 0)
			break;
		name_registers(&r, p, p + n, width);
		if (!predicate)
			break;
		p += n;
	}
	return r;
}

/* True if they share one; what b has is taken from a. */
static bool
take_away(struct registers *a, const struct registers *b)
{
	bool any = false;

	for (size_t f = 0; b->n > 0 && f < N_FILES; f++)
		for (size_t i = 0; i < N_REGISTERS; i++)
			if (a->in[f][i] && b->in[f][i]) {
				a->in[f][i] = false;
				a->n--;
				any = true;
			}
	return any;
}

/* ---- the producer */

uint32_t
main_stall(const struct page *p, const double *stall, double *most)
{
	uint32_t selected = intern_find(&p->reasons, "selected", strlen("selected"));
	uint32_t best = INTERN_NONE;

	*most = 0;
	for (uint32_t i = 0; i < p->reasons.n; i++)
		if (i != selected && stall[i] > *most) {
			*most = stall[i];
			best = i;
		}
	return best;
}

/* Where a branch goes: the last address of "@P0 BRA !P2, 0x7f99bf7e6cc0"; 0: none. */
static uint64_t
branch_to(const char *text)
{
	const char *s = mnemonic(text), *at = strrchr(s, ' ');

	return word_is(s, "BRA") && at != NULL && strncmp(at, " 0x", 3) == 0 ?
	    strtoull(at, NULL, 16) : 0;
}

/* The end of the loop that the instruction is in, as far as branches back tell. */
static size_t
loop_end(const struct block *b, size_t at)
{
	size_t end = at;

	for (size_t i = at; i < b->n && i - at < WINDOW; i++) {
		uint64_t to = branch_to(b->i[i].text);

		if (to >= b->i[0].address && to != 0 && to <= b->i[at].address)
			end = i;
	}
	return end;
}

static bool
delivers(struct registers *open, const char *text, bool is_long)
{
	struct registers w = written(text);
	const struct late *l = late_of(text);

	return take_away(open, &w) && l != NULL && l->is_long == is_long;
}

/* The last before it; in a loop, else the last of the iteration before. */
static size_t
producer_of(const struct block *b, size_t at, bool is_long)
{
	struct registers open = named(b->i[at].text);
	size_t n = 0;

	for (size_t i = at; open.n > 0 && i-- > 0 && n++ < WINDOW; )
		if (delivers(&open, b->i[i].text, is_long))
			return i;
	open = named(b->i[at].text);
	for (size_t i = loop_end(b, at); i > at && open.n > 0; i--)
		if (delivers(&open, b->i[i].text, is_long))
			return i;
	return NO_PRODUCER;
}

void
producers_find(struct page *p)
{
	uint32_t l = intern_find(&p->reasons, "long_scoreboard", strlen("long_scoreboard"));
	uint32_t s = intern_find(&p->reasons, "short_scoreboard", strlen("short_scoreboard"));
	double most;

	for (size_t k = 0; k < p->n; k++)
		for (size_t i = 0; i < p->b[k].n; i++) {
			uint32_t reason = main_stall(p, p->b[k].i[i].stall, &most);

			if (reason != INTERN_NONE && (reason == l || reason == s))
				p->b[k].i[i].producer = producer_of(&p->b[k], i, reason == l);
		}
}
