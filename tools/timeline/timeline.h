/*
 * timeline.h: GPU work in order of its start, swept over windows of time.
 *
 * rows.c brings the rows in order, sweep.c measures the windows device by
 * device, tally.c counts what was assigned to them, gaps.c names the idle time.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "intern.h"

#define NONE INT64_MIN		/* an NA */
#define MAX_TIME ((int64_t)1 << 61)	/* so that differences fit */

void	add_ns(int64_t *sum, int64_t ns);	/* dies on overflow */
void	out_opt(struct out *, int64_t);		/* NA for NONE */

/* For qsort: compares come one after the other, joined by ?: */
static inline int
order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

enum kind { KIND_WINDOW, KIND_KERNEL, KIND_COPY, KIND_SET, KIND_GRAPH };
struct row {
	int64_t	start, end, launch, graph, pid, step, device;	/* NONE: NA */
	uint32_t phase, name;		/* interned; INTERN_NONE: NA or unread */
	enum kind kind;
};

/* The table in order of start, whatever its own order: see rows.c. */
struct rows {
	struct tsv t;
	size_t	 col[10];
	struct intern *names;
	bool	 want_names;
	struct row *r;
	size_t	 n, cap, at, ready;
	int64_t	 released;		/* start of the last row handed out */
	bool	 more, any;
};
void	rows_open(struct rows *, const char *path, struct intern *, bool want_names);
const struct row *rows_next(struct rows *);	/* NULL at the end */
void	rows_close(struct rows *);

/* What a window saw on one device. */
struct seen {
	uint32_t phase;
	int64_t	step, pid, device;	/* pid NONE: of any process */
	uint64_t n_windows, n_gaps;
	int64_t	wall, busy, work, largest_gap;
	bool	opaque;			/* a graph replay hid its kernels in it */
};
/* Idle time of a device within a window. */
enum class {
	WITHIN_GRAPH, HOST_LAUNCH, SYNC_WAIT, COPY, BETWEEN_GRAPHS,
	BETWEEN_KERNELS, UNKNOWN, END, N_CLASSES
};
struct gap {
	uint32_t phase;
	int64_t	step, pid, device, start, dur;
	uint32_t before, after;		/* names; INTERN_NONE: nothing */
	enum class class;
};

typedef void on_gap(void *, const struct gap *, const struct row *before,
    const struct row *after);	/* NULL: nothing was before, or after */
struct sweep;
struct sweep *sweep_new(on_gap *, void *);	/* may be NULL */
void	sweep_all(struct sweep *, uint32_t phase);	/* one window over all */
void	sweep_row(struct sweep *, const struct row *);
void	sweep_end(struct sweep *);
const struct seen *sweep_seen(const struct sweep *, size_t *n);
bool	sweep_uses(const struct sweep *, int64_t pid, int64_t device);
void	sweep_free(struct sweep *);

/* What was assigned to a phase and step by its rows' own columns. */
struct tally {
	uint64_t n_kernels, n_launches, n_graphs, n_hidden;
	int64_t	sum_kernel;
};
struct tallies;
struct tallies *tallies_new(void);
void	tallies_row(struct tallies *, const struct row *);
struct tally tallies_of(const struct tallies *, const struct seen *);
void	tallies_free(struct tallies *);

/* The synchronize calls of api.tsv. */
struct waits {
	struct wait { int64_t pid, start, end; } *w;	/* end: latest so far */
	size_t	 n, cap;
};
bool	is_wait(const char *call);
void	waits_read(struct waits *, const char *path);
int64_t	waits_until(const struct waits *, int64_t pid, int64_t t);
				/* end of the wait that is on at t; t if none */

/* The gaps kept, and what they are. */
struct gaps {
	const struct waits *waits;
	struct gap *g;
	size_t	 n, cap;
};
void	gaps_add(void *, const struct gap *, const struct row *, const struct row *);
void	gaps_print(struct gaps *, const struct sweep *, const struct intern *);
void	gaps_print_classes(const struct gaps *, const struct sweep *,
	    const struct intern *);

/* Time by name or by family of names. */
struct shares;
struct shares *shares_new(struct intern *names, const char *families);
void	shares_row(struct shares *, const struct row *);
void	shares_print(struct shares *);
void	shares_free(struct shares *);

/* API calls by time, of each phase. */
void	calls_print(const char *path, const struct row *windows, size_t n,
	    struct intern *);

#endif
