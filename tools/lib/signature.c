/* signature.c: the name of a function, without its type and parameters. */
#include "ns.h"
#include "signature.h"

/* Where the parameters begin: the parenthesis that the last one closes. */
static char *
parameters(char *s)
{
	char *p = s + strlen(s);
	int depth = 0;

	if (p == s || p[-1] != ')')
		return NULL;
	while (p-- > s) {
		depth += (*p == ')') - (*p == '(');
		if (depth == 0)
			return p;
	}
	return NULL;
}

/* What follows the return type, which stands before a template's name. */
static char *
after_type(char *s)
{
	char *from = s;
	int depth = 0;

	for (char *p = s; *p != '\0'; p++) {
		depth += (strchr("<({[", *p) != NULL) - (strchr(">)}]", *p) != NULL);
		if (depth == 0 && *p == ' ' && p[1] != '\0')
			from = p + 1;
	}
	return from;
}

/* "f(int) const [clone .sm]" ends at its parenthesis. */
static void
cut_qualifiers(char *s)
{
	char *end = strrchr(s, ')');

	if (end != NULL && (strncmp(end, ") const", 7) == 0 || strncmp(end, ") [clone ", 9) == 0))
		end[1] = '\0';
}

char *
signature_name(char *s)
{
	char *end;

	cut_qualifiers(s);
	if ((end = parameters(s)) == NULL || end == s)
		return s;
	*end = '\0';
	return after_type(s);
}
