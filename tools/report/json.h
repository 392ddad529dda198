/* json.h: a table's fields as JSON: for json.c and compact.c. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <jansson.h>

#include "report.h"

json_t	*json_value(const char *column, const char *);	/* NA is null */
void	json_put(json_t *object, const char *key, json_t *);	/* takes it */
void	json_push(json_t *array, json_t *);
const char *json_stem(const char *file);	/* "steps.tsv": steps; static */

#endif
