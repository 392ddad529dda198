/* kv.c: read name=value settings. */
#include <sys/types.h>

#include <err.h>
#include <math.h>

#include "ns.h"

const char kv_name_chars[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
const char kv_value_chars[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:,@+-";

static const char *
lookup(const struct kv *kv, const char *key)
{
	for (size_t i = 0; i < kv->n; i++)
		if (strcmp(kv->key[i], key) == 0)
			return kv->val[i];
	return NULL;
}

static void
add(struct kv *kv, char *line, const char *path, unsigned long at)
{
	char *eq = strchr(line, '=');
	size_t bad;

	if (!is_terminal_safe(line))
		errx(NS_TROUBLE, "%s:%lu: control byte: name=value and LF was expected "
		    "(CR: tr -d '\\r')", path, at);
	if (eq == NULL)
		errx(NS_TROUBLE, "%s:%lu: not name=value: '%s'", path, at, line);
	*eq++ = '\0';
	if (*line < 'a' || *line > 'z' || line[strspn(line, kv_name_chars)] != '\0')
		errx(NS_TROUBLE, "%s:%lu: bad name '%s'", path, at, line);
	if (eq[bad = strspn(eq, kv_value_chars)] != '\0')
		errx(NS_TROUBLE, "%s:%lu: %s: unsafe character '%c' in value",
		    path, at, line, eq[bad]);
	if (lookup(kv, line) != NULL)
		errx(NS_TROUBLE, "%s:%lu: '%s' is set twice", path, at, line);
	kv->key = realloc(kv->key, (kv->n + 1) * sizeof *kv->key);
	kv->val = realloc(kv->val, (kv->n + 1) * sizeof *kv->val);
	if (kv->key == NULL || kv->val == NULL)
		err(NS_TROUBLE, "%s", path);
	kv->key[kv->n] = xstrdup(line);
	kv->val[kv->n++] = xstrdup(eq);
}

void
kv_read(struct kv *kv, const char *path)
{
	bool piped = path == NULL || strcmp(path, "-") == 0;
	FILE *fp = piped ? stdin : fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	unsigned long at = 0;
	ssize_t len;

	if (fp == NULL)
		err(NS_TROUBLE, "%s", path);
	kv->path = path = piped ? "stdin" : path;
	while ((len = getline(&line, &cap, fp)) != -1) {
		at++;
		if (line[len - 1] != '\n')
			errx(NS_TROUBLE, "%s:%lu: last line cut short", path, at);
		line[len - 1] = '\0';
		if (strlen(line) != (size_t)len - 1)
			errx(NS_TROUBLE, "%s:%lu: NUL byte", path, at);
		if (line[0] != '#' && line[0] != '\0')
			add(kv, line, path, at);
	}
	if (ferror(fp))
		err(NS_TROUBLE, "%s", path);
	free(line);
	fclose(fp);
}

const char *
kv_get(const struct kv *kv, const char *key)
{
	const char *v = lookup(kv, key);

	return v == NULL || strcmp(v, "NA") == 0 ? NULL : v;
}

const char *
kv_need(const struct kv *kv, const char *key)
{
	const char *v = kv_get(kv, key);

	if (v == NULL)
		errx(NS_TROUBLE, "%s: no '%s'", kv->path, key);
	return v;
}

double
kv_num(const struct kv *kv, const char *key)
{
	const char *v = kv_get(kv, key);
	double x;

	if (v == NULL)
		return NAN;
	if (!parse_num(v, &x))
		errx(NS_TROUBLE, "%s: %s: not a number: '%s'", kv->path, key, v);
	return x;
}

uint64_t
kv_count(const struct kv *kv, const char *key)
{
	const char *v = kv_need(kv, key);
	uint64_t n;

	if (!parse_count(v, &n))
		errx(NS_TROUBLE, "%s: %s: not a count: '%s'", kv->path, key, v);
	return n;
}

void
kv_free(struct kv *kv)
{
	for (size_t i = 0; i < kv->n; i++) {
		free(kv->key[i]);
		free(kv->val[i]);
	}
	free(kv->key);
	free(kv->val);
	*kv = (struct kv){ 0 };
}
