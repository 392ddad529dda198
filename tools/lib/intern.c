/* intern.c: each byte string kept once and known by a number. */
#include <err.h>

#include "intern.h"

/* Eight bytes at a time: kernel names are long. */
static uint64_t
hash(const unsigned char *p, size_t len)
{
	uint64_t h = len * 0x9e3779b97f4a7c15, w;

	for (; len > 0; p += sizeof w) {
		size_t n = len < sizeof w ? len : sizeof w;

		w = 0;
		memcpy(&w, p, n);
		len -= n;
		h = (h ^ w) * 0xff51afd7ed558ccd;
		h ^= h >> 32;
	}
	return h;
}

static size_t
length(const struct intern *t, uint32_t i)
{
	return (i + 1 < t->n ? t->at[i + 1] : t->used) - t->at[i] - 1;
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t
find(const struct intern *t, const void *s, size_t len)
{
	size_t mask = t->n_slots - 1, i = (size_t)hash(s, len) & mask;

	for (; t->slot[i] != 0; i = (i + 1) & mask) {
		uint32_t k = t->slot[i] - 1;

		if (length(t, k) == len && memcmp(t->bytes + t->at[k], s, len) == 0)
			break;
	}
	return i;
}

static void
grow(struct intern *t)
{
	t->n_slots = t->n_slots != 0 ? 2 * t->n_slots : 64;
	free(t->slot);
	t->slot = xalloc(t->n_slots, sizeof *t->slot);
	for (uint32_t i = 0; i < t->n; i++)
		t->slot[find(t, t->bytes + t->at[i], length(t, i))] = i + 1;
}

uint32_t
intern(struct intern *t, const void *s, size_t len)
{
	size_t i;

	if (t->n >= t->n_slots / 2)
		grow(t);
	if (t->slot[i = find(t, s, len)] != 0)
		return t->slot[i] - 1;
	if (t->n == UINT32_MAX - 1)
		errx(NS_TROUBLE, "more than %u different names", t->n);
	t->at = xgrow(t->at, &t->at_cap, (size_t)t->n + 1, sizeof *t->at);
	t->bytes = xgrow(t->bytes, &t->cap, t->used + len + 1, 1);
	memcpy(t->bytes + t->used, s, len);
	t->bytes[t->used + len] = '\0';
	t->at[t->n] = t->used;
	t->used += len + 1;
	t->slot[i] = t->n + 1;
	return t->n++;
}

uint32_t
intern_text(struct intern *t, const char *s)
{
	return intern(t, s, strlen(s));
}

uint32_t
intern_find(const struct intern *t, const void *s, size_t len)
{
	return t->n == 0 ? INTERN_NONE : t->slot[find(t, s, len)] - 1;
}

const char *
interned(const struct intern *t, uint32_t i)
{
	return t->bytes + t->at[i];
}

void
intern_free(struct intern *t)
{
	free(t->slot);
	free(t->at);
	free(t->bytes);
	*t = (struct intern){ 0 };
}
