/*
 * check.h: a run, as far as it is there, and what each check finds in it.
 *
 * A new check is one function and one row of the table in ns-check.c.
 */
#ifndef CHECK_H
#define CHECK_H

#include "run.h"

enum verdict { PASS, FAIL, WARN, NOT_JUDGED };
extern const char *const verdict_name[];	/* pass fail warn na, NULL */

struct run {
	const char *dir;
	uint64_t n_counted;		/* decode steps that were asked for; 0: all */
	struct readset readset;
	struct hierarchy hierarchy, steps;
	struct baseline baseline;
	struct kv model, platform, ceilings;
	struct measured *memory;	/* of steps.tsv */
	size_t	 n_memory;
	const char *check;		/* the one at work */
	struct out out;
	unsigned n[NOT_JUDGED + 1];	/* verdicts */
	char	*path[8];		/* of the files that were read */
	size_t	 n_paths;
};
char	*run_path(const struct run *, const char *name);	/* free it */
bool	run_has(const struct run *, const char *name);

struct finding {
	const char *part;		/* the row's name is CHECK.PART */
	const char *phase, *source;
	double	 expected, measured, error, tolerance;
};
/* NULL and NAN are NA; error is measured over expected, less 1, or NAN: no number. */
struct finding finding(const char *part, const char *phase, const char *source,
	    double expected, double measured, double tolerance);
/* Write a row; the why is one sentence, said on stderr too if it fails. */
void	found(struct run *, const struct finding *, enum verdict,
	    const char *why, ...) __attribute__((format(printf, 4, 5)));
void	nothing_found(struct run *, const char *why);	/* a row of na */
double	ratio(double part, double whole);	/* NAN if there is none */
/* An error within the tolerance passes; one that is NAN cannot be judged. */
enum verdict judge(const struct finding *, enum verdict otherwise);
const char *percent(double ratio, char buf[static 32]);	/* "1.2 %", no sign */

/* A row of terms.tsv or gate.terms.tsv; the texts live as long as the row. */
struct term {
	const char *source, *phase, *role, *quantity, *rung, *direction, *metric;
	double	 value;
};
struct terms {
	char	*path;
	struct tsv t;
	size_t	 col[7], value;
};

void	terms_open(const struct run *, struct terms *, const char *name);
bool	terms_next(struct terms *, struct term *);
void	terms_close(struct terms *);

void	check_gate(struct run *);
void	check_derivation(struct run *);
void	check_sentinel(struct run *);
void	check_witness(struct run *);
void	check_predicted_read(struct run *);
void	check_predicted_write(struct run *);
void	check_steps(struct run *);
void	check_hit_ratio(struct run *);
void	check_missing(struct run *);
void	check_read_ceiling(struct run *);
void	check_flop_ceiling(struct run *);
void	check_canary(struct run *);
void	check_throttle(struct run *);
void	check_sampled(struct run *);
void	check_sets(struct run *);
void	check_profiled_time(struct run *);
void	check_ranges(struct run *);
void	check_kernels(struct run *);
void	check_footprint(struct run *);

#endif
