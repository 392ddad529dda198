/* host.c: read /proc and /sys. */
#include <err.h>

#include "host.h"

static FILE *
open_in(const char *root, const char *path)
{
	char *full = xasprintf("%s%s", root, path);
	FILE *fp = fopen(full, "r");

	free(full);
	return fp;
}

/* The next line of fp without its newline, or NULL; free it. */
static char *
line_of(FILE *fp)
{
	char *s = NULL;
	size_t cap = 0;
	ssize_t len = getline(&s, &cap, fp);

	if (len < 0) {
		free(s);
		return NULL;
	}
	s[strcspn(s, "\n")] = '\0';
	return s;
}

char *
host_line(const char *root, const char *path)
{
	FILE *fp = open_in(root, path);
	char *s;

	if (fp == NULL)
		return NULL;
	s = line_of(fp);
	fclose(fp);
	return s;
}

/* What follows key in line, if key is all that stands before : or =. */
static const char *
value_in(const char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return NULL;
	n += strspn(line + n, " \t");
	if (line[n] != ':' && line[n] != '=')
		return NULL;
	n++;
	return line + n + strspn(line + n, " \t\"");
}

char *
host_value(const char *root, const char *path, const char *key)
{
	FILE *fp = open_in(root, path);
	char *s, *found = NULL;

	if (fp == NULL)
		return NULL;
	while (found == NULL && (s = line_of(fp)) != NULL) {
		const char *v = value_in(s, key);

		if (v != NULL) {
			found = xstrdup(v);
			found[strcspn(found, "\"")] = '\0';
		}
		free(s);
	}
	fclose(fp);
	return found;
}

/* "32768 kB", "512K", "32M": a count and a binary unit. */
static bool
size_in(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMG";
	char digits[24];
	size_t n = strspn(s, "0123456789");
	const char *u;

	if (n >= sizeof digits)
		return false;
	memcpy(digits, s, n);
	digits[n] = '\0';
	s += n + strspn(s + n, " ");
	u = *s == 'k' ? units : *s != '\0' ? strchr(units, *s) : NULL;
	return parse_count(digits, bytes) && (u == NULL ? *s == '\0' :
	    mul_ok(*bytes, (uint64_t)1 << 10 * (u - units + 1), bytes));
}

bool
host_meminfo(const char *root, const char *key, uint64_t *bytes)
{
	char *s = host_value(root, "/proc/meminfo", key);
	bool ok = s != NULL && size_in(s, bytes);

	free(s);
	return ok;
}

/* One attribute of cache index of cpu, or NULL at the end of the list. */
static char *
attribute(const char *root, unsigned cpu, unsigned index, const char *name)
{
	char *path = xasprintf("/sys/devices/system/cpu/cpu%u/cache/index%u/%s",
	    cpu, index, name);
	char *s = host_line(root, path);

	free(path);
	return s;
}

/* Is it of that level and type, and is cpu the first of those that share it? */
static bool
counts(const char *root, unsigned cpu, unsigned index, const char *level,
    enum host_cache_type type)
{
	char *l = attribute(root, cpu, index, "level");
	char *t = attribute(root, cpu, index, "type");
	char *shared = attribute(root, cpu, index, "shared_cpu_list");
	bool instruction = t != NULL && strcmp(t, "Instruction") == 0;
	char first[16];
	bool yes;

	snprintf(first, sizeof first, "%u", cpu);
	yes = l != NULL && t != NULL && strcmp(l, level) == 0 &&
	    instruction == (type == CACHE_INSTRUCTION) &&
	    (shared == NULL || (strncmp(shared, first, strlen(first)) == 0 &&
	    strchr("-,", shared[strlen(first)]) != NULL));
	free(l);
	free(t);
	free(shared);
	return yes;
}

bool
host_cache(const char *root, unsigned level, enum host_cache_type type,
    struct host_cache *c)
{
	char want[16], *s;

	*c = (struct host_cache){ 0 };
	snprintf(want, sizeof want, "%u", level);
	for (unsigned cpu = 0, gap = 0; gap < 64; cpu++) {
		for (unsigned i = 0; (s = attribute(root, cpu, i, "size")) != NULL; i++) {
			uint64_t bytes;

			gap = 0;
			if (counts(root, cpu, i, want, type) &&
			    size_in(s, &bytes) &&
			    add_ok(c->total_bytes, bytes, &c->total_bytes) &&
			    bytes > c->bytes)
				c->bytes = bytes;
			free(s);
		}
		gap++;
	}
	return c->bytes != 0;
}

struct host_cache
host_last_level(const char *root)
{
	struct host_cache c = { 0 };

	for (unsigned level = 4; level > 0; level--)
		if (host_cache(root, level, CACHE_DATA, &c))
			break;
	return c;
}
