/* tokens.c: the prompts. */
#include <err.h>
#include <inttypes.h>

#include "worker.h"

/* splitmix64 of a counter: the same on every machine, whatever the order. */
static uint64_t
mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* A sequence's tokens depend on the seed and its number, not on the batch. */
uint32_t *
tokens_random(const struct plan *p, size_t vocab, uint64_t seed)
{
	uint32_t *token = xalloc(p->prompt * p->batch, sizeof *token);

	for (size_t s = 0; s < p->batch; s++) {
		uint64_t base = mix(mix(seed + 1) + s);

		for (size_t i = 0; i < p->prompt; i++)
			token[i * p->batch + s] = (uint32_t)(mix(base +
			    (i + 1) * 0x9e3779b97f4a7c15) % vocab);
	}
	return token;
}

static void
add(struct ids *ids, const char *word, size_t vocab, const char *path, size_t line)
{
	uint64_t id;

	if (!parse_count(word, &id))
		errx(NS_TROUBLE, "%s:%zu: not a token id: '%s'", path, line, word);
	if (id >= vocab)
		errx(NS_TROUBLE, "%s:%zu: token %" PRIu64 " is outside the "
		    "vocabulary of %zu", path, line, id, vocab);
	ids->id = xgrow(ids->id, &ids->cap, ids->n + 1, sizeof *ids->id);
	ids->id[ids->n++] = (uint32_t)id;
}

/* Token ids, separated by white space. */
void
ids_read(struct ids *ids, const char *path, size_t vocab)
{
	FILE *fp = fopen(path, "r");
	char *text = NULL, *rest, *word;
	size_t cap = 0;
	ssize_t len;

	if (fp == NULL)
		err(NS_TROUBLE, "%s", path);
	for (size_t line = 1; (len = getline(&text, &cap, fp)) != -1; line++) {
		if (strlen(text) != (size_t)len)
			errx(NS_TROUBLE, "%s:%zu: NUL byte", path, line);
		for (rest = text; (word = strsep(&rest, " \t\r\n")) != NULL; )
			if (*word != '\0')
				add(ids, word, vocab, path, line);
	}
	if (ferror(fp))
		err(NS_TROUBLE, "%s", path);
	fclose(fp);
	free(text);
	if (ids->n == 0)
		errx(NS_TROUBLE, "%s: no token ids", path);
}

/* One prompt for all sequences, or a prompt for each, one after the other. */
uint32_t *
tokens_given(const struct plan *p, const struct ids *ids, const char *path)
{
	const size_t all = p->prompt * p->batch;
	uint32_t *token;

	if (ids->n != p->prompt && ids->n != all)
		errx(NS_TROUBLE, "%s: %zu token ids: %zu for all sequences or "
		    "%zu for each were expected", path, ids->n, p->prompt, all);
	token = xalloc(all, sizeof *token);
	for (size_t s = 0; s < p->batch; s++)
		for (size_t i = 0; i < p->prompt; i++)
			token[i * p->batch + s] = ids->id[(ids->n == all ? s *
			    p->prompt : 0) + i];
	return token;
}
