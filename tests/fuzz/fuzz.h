/*
 * fuzz.h: a tool under libFuzzer.  The tool's file is included whole, and its way
 * out, err(3), leads back to the harness:
 *
 *	#define main tool_main
 *	#include "../../tools/TOOL.c"
 *	#include "fuzz.h"
 *
 *	if (fuzz_try())
 *		...			may end in err or errx
 *	free what is left
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <err.h>
#include <setjmp.h>
#include <stdarg.h>

static jmp_buf fuzz_out;
#define fuzz_try() (setjmp(fuzz_out) == 0)

static void
fuzz_print(const char *fmt, va_list ap)
{
	char sink[4096];		/* so that the arguments are read */

	if (fmt != NULL)
		vsnprintf(sink, sizeof sink, fmt, ap);
}

#define FUZZ_SAY(name)					\
void							\
name(const char *fmt, ...)				\
{							\
	va_list ap;					\
							\
	va_start(ap, fmt);				\
	fuzz_print(fmt, ap);				\
	va_end(ap);					\
}
#define FUZZ_END(name)					\
void							\
name(int status, const char *fmt, ...)			\
{							\
	va_list ap;					\
							\
	(void)status;					\
	va_start(ap, fmt);				\
	fuzz_print(fmt, ap);				\
	va_end(ap);					\
	longjmp(fuzz_out, 1);				\
}
FUZZ_SAY(warn)
FUZZ_SAY(warnx)
FUZZ_END(err)
FUZZ_END(errx)

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#endif
