/* phases.h: windows of time, and which of them a moment belongs to. */
#ifndef PHASES_H
#define PHASES_H

#include "ns.h"

enum { ANY_PID = -1 };

struct window {
	char	*phase;
	int64_t	 step, start, end, pid;
};
struct windows {
	struct window *w;
	size_t	 n, cap;
	const char *source;	/* nvtx, graph or given */
	struct pid_segments *by_pid;
	size_t	 n_pids;
};
void	windows_add(struct windows *, const struct window *);
void	window_name(struct window *, const char *name, const char *phase,
	    size_t phase_len);		/* phase and step out of a name */
void	windows_index(struct windows *);	/* numbers, sorts; then find */
const struct window *windows_find(const struct windows *, int64_t pid, int64_t t);
void	windows_free(struct windows *);

/* Rows out, with the windows merged in by their start. */
struct emit {
	struct out out;
	struct tsv *t;
	size_t	 start, end, kind, pid, phase, step, name;	/* columns */
	const struct windows *win;
	size_t	 next;		/* window not yet written */
	uint64_t n_rows, n_in, n_unlaunched;
};
void	emit_row(struct emit *, int64_t start, const struct window *);
void	emit_windows(struct emit *, int64_t until);	/* that start by then */

/* --last-graphs n: each of the last n graph launches of a process is a step. */
void	last_graphs(struct emit *, struct windows *, size_t n, bool windows_only);

#endif
