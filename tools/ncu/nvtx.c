/*
 * nvtx.c: the NVTX cells of a row to phase and step.
 *
 * A cell is a thread and the open ranges, outermost first:
 *	575  "nsbench:repeat.0:none:...:none"  "nsbench:decode.2:none:...:none"
 * Six fields follow a range's name, its domain goes before, and in the cells
 * of start/stop ranges an id before that.  In domain nsbench the kernels of
 * ns-calib's gate are phases too.
 */
#include "ncu.h"

enum { TAIL = 6 };	/* PL_Type PL_Value CLR_Type Color Msg_Type Msg */

bool
phase_parse(const char *s, struct phase *p)
{
	static const char *const names[] = { "prefill", "decode", NULL };

	for (size_t i = 0; names[i] != NULL; i++) {
		size_t n = strlen(names[i]);

		if (strncmp(s, names[i], n) != 0 ||
		    (s[n] != '\0' && strchr("./_:- ", s[n]) == NULL))
			continue;
		*p = (struct phase){ .has_step = i == 0 && s[n] == '\0' };
		snprintf(p->name, sizeof p->name, "%s", names[i]);
		if (s[n] != '\0')
			p->has_step = parse_count(s + n + 1, &p->step);
		return true;
	}
	return false;
}

static bool
gate_parse(const char *s, struct phase *p)
{
	static const char *const names[] = { "read", "write", "copy", "reread", NULL };

	for (size_t i = 0; names[i] != NULL; i++)
		if (strcmp(s, names[i]) == 0) {
			*p = (struct phase){ .has_step = false };
			snprintf(p->name, sizeof p->name, "%s", s);
			return true;
		}
	return false;
}

/* DOMAIN:NAME:six fields as NAME, or NULL if it is not such; is it nsbench's? */
static char *
range_name(char *entry, bool *ours)
{
	size_t id = strspn(entry, "0123456789");
	char *name, *end = entry + strlen(entry);

	if (id != 0 && entry[id] == ':')
		entry += id + 1;
	if ((name = strchr(entry, ':')) == NULL)
		return NULL;
	*name++ = '\0';
	*ours = strcmp(entry, "nsbench") == 0;
	for (int i = 0; i < TAIL; i++) {
		*end = '\0';
		if ((end = strrchr(name, ':')) == NULL)
			return NULL;
	}
	*end = '\0';
	return name;
}

/* Cuts the last range off the cell. */
static char *
last_range(char *cell, bool *ours)
{
	char *close = strrchr(cell, '"'), *open;

	if (close == NULL) {		/* a single one may stand without quotes */
		open = cell + strspn(cell, " ");
		return *open != '\0' ? range_name(open, ours) : NULL;
	}
	*close = '\0';
	if ((open = strrchr(cell, '"')) == NULL)
		return NULL;
	*open = '\0';
	return range_name(open + 1, ours);
}

/*
 * The innermost range that names a phase; *innermost, unless it is known, becomes
 * the innermost of all.  The cell is used up.
 */
void
phase_find(char *cell, struct phase *p, const char **innermost)
{
	bool quoted = strchr(cell, '"') != NULL;
	char *name;
	bool ours;

	do {
		if ((name = last_range(cell, &ours)) == NULL)
			continue;
		if (*innermost == NULL)
			*innermost = name;
		if (p->name[0] == '\0' && !phase_parse(name, p) && ours)
			gate_parse(name, p);
	} while (quoted && strchr(cell, '"') != NULL);
}
