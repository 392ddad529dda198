/* cg.h: a callgrind profile, read part by part; each is checked as a whole. */
#ifndef CG_H
#define CG_H

#include "ns.h"

enum { CG_EVENTS = 64 };

struct fn {
	char	*name;
	bool	 used;			/* has a cost line in this part */
	uint64_t cost[CG_EVENTS];	/* self */
};

/* Functions by name, and those of them that the file has numbered. */
struct names {
	void	*tree;
	struct fn **id;
	size_t	 n_ids;
};

struct part {			/* a dump */
	uint64_t number, thread;	/* thread 0: all of them */
	char	*trigger;		/* why it was made; NULL: not said */
	size_t	 n_positions, n_events;
	char	*event[CG_EVENTS];
	uint64_t total[CG_EVENTS];	/* of all functions, an event each */
	struct fn **fn;			/* in order of first appearance */
	size_t	 n_fns, cap;
};

struct cg {
	FILE	*fp;
	const char *path;
	uint64_t line;
	char	*text;			/* the line in hand */
	size_t	 cap;
	struct names names;
	struct part part;
	bool	 open;			/* within a part */
	struct fn *fn;			/* whose cost lines follow */
	bool	 call;			/* the next one is inclusive */
};
void	cg_open(struct cg *, const char *path);		/* NULL or "-": stdin */
bool	cg_next(struct cg *);				/* false at the end */
void	cg_close(struct cg *);
void	cg_die(const struct cg *, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
uint64_t cg_number(const struct cg *, const char *);	/* decimal or 0x hex */

/* names.c: "(12) name" gives name the number 12, "(12)" is that name. */
struct fn *cg_function(struct cg *, char *spec);
void	cg_forget(struct names *);

#endif
