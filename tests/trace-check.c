/*
 * trace-check: reads a Chrome trace with jansson, strictly, and says what is in it.
 *
 * usage: trace-check <TRACE; prints events by kind, the summed durations of
 * complete events in ns, and the names of processes and threads.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

int
main(void)
{
	static const char kinds[] = "MXBibeC";
	long n[sizeof kinds] = { 0 };
	json_t *trace, *events, *e;
	json_error_t why;
	double dur = 0;
	size_t i;

	trace = json_loadf(stdin, JSON_REJECT_DUPLICATES, &why);
	if (trace == NULL) {
		fprintf(stderr, "%d:%d: %s\n", why.line, why.column, why.text);
		return 1;
	}
	events = json_object_get(trace, "traceEvents");
	json_array_foreach(events, i, e) {
		const char *ph = json_string_value(json_object_get(e, "ph"));
		const char *k = ph != NULL && strlen(ph) == 1 ? strchr(kinds, *ph) : NULL;
		const char *name = json_string_value(json_object_get(e, "name"));

		if (k == NULL || name == NULL ||
		    !json_is_integer(json_object_get(e, "pid")) ||
		    !json_is_integer(json_object_get(e, "tid")) ||
		    (*ph != 'M' && !json_is_number(json_object_get(e, "ts")))) {
			fprintf(stderr, "event %zu: not one\n", i);
			return 1;
		}
		n[k - kinds]++;
		dur += json_number_value(json_object_get(e, "dur"));
		if (*ph == 'M')
			printf("%s=%s\n", name, json_string_value(json_object_get(
			    json_object_get(e, "args"), "name")));
	}
	for (i = 0; i < sizeof kinds - 1; i++)
		printf("%c=%ld ", kinds[i], n[i]);
	printf("ns=%.0f\n", 1000 * dur);
	json_decref(trace);
	return 0;
}
