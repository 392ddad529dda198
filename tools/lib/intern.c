/* intern.c: each byte string kept once and known by a number. */
#include <err.h>

#include "intern.h"

/* Eight bytes at a time: kernel names are long. */
static uint32_t
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
	return (uint32_t)h;
}

static size_t
length(const struct intern *t, uint32_t i)
{
	return (i + 1 < t->n ? t->at[i + 1] : t->used) - t->at[i] - 1;
}

/* The slot that holds the string, or the free one where it belongs. */
static struct intern_slot *
find(const struct intern *t, const void *s, size_t len, uint32_t h)
{
	size_t mask = t->n_slots - 1, i = h & mask;

	for (; t->slot[i].number != 0; i = (i + 1) & mask) {
		uint32_t k = t->slot[i].number - 1;

		if (t->slot[i].hash == h && length(t, k) == len &&
		    memcmp(t->bytes + t->at[k], s, len) == 0)
			break;
	}
	return &t->slot[i];
}

static void
grow(struct intern *t)
{
	size_t n = t->n_slots != 0 ? 2 * t->n_slots : 64;
	struct intern_slot *slot = xalloc(n, sizeof *slot);

	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slot[i].number != 0) {
			size_t j = t->slot[i].hash & (n - 1);

			while (slot[j].number != 0)
				j = (j + 1) & (n - 1);
			slot[j] = t->slot[i];
		}
	free(t->slot);
	t->slot = slot;
	t->n_slots = n;
}

uint32_t
intern(struct intern *t, const void *s, size_t len)
{
	uint32_t h = hash(s, len);
	struct intern_slot *slot;

	if (t->n >= t->n_slots / 2)
		grow(t);
	if ((slot = find(t, s, len, h))->number != 0)
		return slot->number - 1;
	if (t->n == UINT32_MAX / 2)
		errx(NS_TROUBLE, "more than %u different names", t->n);
	t->at = xgrow(t->at, &t->at_cap, (size_t)t->n + 1, sizeof *t->at);
	t->bytes = xgrow(t->bytes, &t->cap, t->used + len + 1, 1);
	memcpy(t->bytes + t->used, s, len);
	t->bytes[t->used + len] = '\0';
	t->at[t->n] = t->used;
	t->used += len + 1;
	*slot = (struct intern_slot){ t->n + 1, h };
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
	return t->n == 0 ? INTERN_NONE :
	    find(t, s, len, hash(s, len))->number - 1;
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
