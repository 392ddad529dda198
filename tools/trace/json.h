/* json.h: the pieces of a JSON text, straight to a file. */
#ifndef JSON_H
#define JSON_H

#include "ns.h"

void	json_raw(FILE *, const char *);
void	json_int(FILE *, int64_t);
void	json_us(FILE *, int64_t ns);	/* in microseconds, exactly */
void	json_text(FILE *, const char *);	/* quoted; what is not UTF-8, U+FFFD */

#endif
