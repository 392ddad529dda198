/* plot.h: what the figures share. */
#ifndef PLOT_H
#define PLOT_H

#include "table.h"

struct plot {
	FILE	*fp;
	const char *dir;
	struct table t;		/* the figure's own */
};

/* Each returns NULL, or why there is nothing to draw. */
const char *draw_ladder(struct plot *);
const char *draw_roofline(struct plot *);
const char *draw_sweep(struct plot *);
const char *draw_footprint(struct plot *);
const char *draw_phases(struct plot *);
const char *draw_timeline(struct plot *);
const char *draw_ops(struct plot *);
void	draw_absent(struct plot *, const char *figure, const char *file,
	    const char *why);

/*
 * Text as a gnuplot string.  In single quotes nothing is special but the quote
 * itself, and a doubled one is not always read as one: text has none of them.
 * The terminal is told to take no markup.
 */
void	quoted(FILE *, const char *);

/* Neutral ink, legible on white and on black: ns-report gives it the page's. */
#define INK "#767676"
extern const char *const hue[];		/* told apart by the colour-blind too */
enum { N_HUES = 5 };
int	phase_hue(const char *phase);	/* the same in every figure */

bool	access_ok(const char *path);
void	head(struct plot *, int height);
void	si_axis(struct plot *, const char *axis, const char *unit);	/* logarithmic */
/* Linear: numbers up to most in one decimal unit; what to multiply them by. */
double	unit_axis(struct plot *, const char *axis, double most, const char *unit);
/* The name in row i of column, if it stands there for the first time. */
const char *new_name(const struct table *, size_t i, const char *column);

#endif
