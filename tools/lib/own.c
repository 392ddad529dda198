/* own.c: what each row adds to the busy time of its device. */
#include "own.h"

static struct own_device *
device(struct own *o, int64_t number)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->d[i].device == number)
			return &o->d[i];
	o->d = xgrow(o->d, &o->cap, o->n + 1, sizeof *o->d);
	o->d[o->n] = (struct own_device){ number, INT64_MIN };
	return &o->d[o->n++];
}

int64_t
own_ns(struct own *o, int64_t number, int64_t start, int64_t end)
{
	struct own_device *d = device(o, number);
	int64_t from = start > d->end ? start : d->end;

	if (end <= from)
		return 0;
	d->end = end;
	return end - from;
}

void
own_free(struct own *o)
{
	free(o->d);
}
