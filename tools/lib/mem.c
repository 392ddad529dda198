/* mem.c: memory that is there, or a message and exit 2. */
#include <err.h>
#include <stdarg.h>

#include "ns.h"

void *
xalloc(size_t n, size_t size)
{
	void *p = calloc(n != 0 ? n : 1, size != 0 ? size : 1);

	if (p == NULL)
		err(NS_TROUBLE, "%zu x %zu bytes", n, size);
	return p;
}

/* Room for need elements; cap doubles, new room is not zeroed. */
void *
xgrow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap, bytes;

	if (need <= n)
		return p;
	while (n < need)
		n = n < 8 ? 8 : n + n / 2;
	if (!mul_ok(n, size, &bytes) || (p = realloc(p, bytes)) == NULL)
		err(NS_TROUBLE, "%zu x %zu bytes", n, size);
	*cap = n;
	return p;
}

char *
xstrdup(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		err(NS_TROUBLE, "%zu bytes", strlen(s) + 1);
	return p;
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		err(NS_TROUBLE, "vsnprintf");
	s = xalloc((size_t)n + 1, 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}
