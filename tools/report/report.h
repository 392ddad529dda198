/*
 * report.h: a run directory in memory, what it comes to, and the document made
 * from it.  A section speaks only to the emitter; html.c and markdown.c are the
 * two that listen.
 */
#ifndef REPORT_H
#define REPORT_H

#include "table.h"

/* Whatever of a run is there; path is NULL where a file is absent. */
struct run {
	const char *dir;
	char	*name;		/* MODEL.WORKLOAD.BACKEND */
	struct kv probe, platform, model, command, workload, ceilings,
	    canary_before, canary_after, manifest;
	struct table readset, gate, sweep, baseline, footprint, routing,
	    hierarchy, steps, checks, roofline, timeline, families, kernels,
	    idle, gaps, calls, stages, tensors, detail, source, source_kernels,
	    ops;
	struct kernel *kernel;	/* by memory bytes, largest first */
	size_t	 n_kernel;
	bool	 simulated;
};
struct kernel {
	char	*phase, *name;
	double	 bytes, read_bytes, write_bytes;	/* bytes: undirected ones too */
	uint64_t n_launches, n_missing;
};
struct part {			/* a file of a run: load.c has the list */
	const char *file, *needs;
	size_t	 at;		/* in struct run */
	const char *why;	/* what a report without it cannot say */
	const char *how;	/* what makes it */
};
extern const struct part tables[], settings[];	/* end with file NULL */
void	run_load(struct run *, const char *dir, const char *metrics);
void	run_free(struct run *);
const char *run_setting(const struct run *, const char *name);	/* of the workload */
const char *run_step_kind(const struct run *);	/* how a decode step was cut; or NULL */
void	kernels_load(struct run *, const char *metrics);
const struct table *part_table(const struct run *, const struct part *);
const struct kv *part_kv(const struct run *, const struct part *);

/* What a run comes to.  NAN is not measured. */
enum verdict { TRUSTED, NOT_TRUSTED, INCONCLUSIVE };
struct spread {
	size_t	 n;
	double	 median, low, high, max;	/* low, high: quartiles */
	double	 n_tokens;			/* a step, all sequences */
};
struct summary {
	enum verdict verdict;
	const char *reason;
	bool	 speed_moved;		/* a canary warns: speed is inconclusive */
	const char *no_share;		/* why of_read_ratio means nothing, or NULL */
	size_t	 n_pass, n_warn, n_fail, n_na;
	struct spread prefill, first, decode;	/* dur_ns */
	bool	 one_decode;		/* baseline knows no first step */
	double	 measured_bytes_per_token, predicted_bytes_per_token;
	double	 measured_read, predicted_read;	/* of decode, bytes a token */
	double	 decode_read;			/* of all its counted steps */
	double	 decode_steps;			/* so many; NAN: not known */
	double	 of_ceiling_ratio;		/* decode, of the roofline */
	double	 of_read_ratio;			/* decode, of memory read */
	double	 busy_ratio;			/* decode, of the timeline */
};
extern const char *const verdict_word[];
void	summarise(struct summary *, const struct run *);
const char *without_phase(const char *why, const char *phase);
const char *no_read_share(const struct run *, const char *phase);
double	tokens_per_s(const struct spread *);
/* The row of hierarchy (or another table) for a phase and rung; or TSV_NONE. */
size_t	row_of(const struct table *, const char *phase, const char *rung);
bool	leads(const struct table *, size_t row);
/* Predicted bytes a token: of a role, or of all (NULL). */
struct predicted { double read, write; };
struct predicted predicted(const struct run *, const char *phase, const char *role);
double	phase_tokens(const struct run *, const char *phase);
double	phase_steps(const struct run *, const char *phase, const char *source);
double	add_known(double, double);	/* a sum that leaves NAN out */
double	phase_sum(const struct table *, const char *phase, const char *column);

/*
 * The document.  Text may hold CODE("...") and STRONG("...") around names and
 * words; everything else in it is shown as it stands, escaped by the back end.
 */
#define CODE(s)	"\1" s "\2"
#define STRONG(s) "\3" s "\4"
#define HARD	"\5"		/* a space that does not break */
enum tone { PLAIN, NOTE, GOOD, BAD, DOUBT };
struct doc;
struct back {
	void	(*begin)(struct doc *, const char *title);
	void	(*end)(struct doc *);
	void	(*section)(struct doc *, const char *id, const char *title);
	void	(*para)(struct doc *, enum tone, const char *);
	void	(*list)(struct doc *, bool open);
	void	(*item)(struct doc *, const char *);
	void	(*facts)(struct doc *, bool open);
	void	(*fact)(struct doc *, const char *, const char *, const char *);
	void	(*table)(struct doc *, const char *caption);	/* NULL: its end */
	void	(*cell)(struct doc *, size_t at, const char *);
	void	(*figure)(struct doc *, const char *name, const char *caption);
};
extern const struct back html, markdown;
struct section {
	const char *id, *title;
	bool	(*there)(const struct doc *);
	void	(*write)(struct doc *);
};
struct doc {
	FILE	*fp;
	const struct back *back;
	const struct section *sections;		/* end with id NULL */
	const struct run *run;
	const struct summary *sum;
	size_t	 top_kernels;
	enum { NO_BLOCK, LIST, FACTS } block;
	char	**head;		/* of the table being written */
	size_t	 n_col, n_cell;
	char	**said;
	size_t	 n_said, cap_said;
};
const char *say(struct doc *, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));	/* lives as long as the doc */
void	doc_section(struct doc *, const char *id, const char *title);
void	para(struct doc *, enum tone, const char *);
void	item(struct doc *, const char *);
void	fact(struct doc *, const char *label, const char *value, const char *note);
/* Columns "Phase|>Read|~Why": > is a number, set right; ~ is a sentence. */
void	table(struct doc *, const char *caption, const char *columns);
const char *column_name(const char *head);
void	cell(struct doc *, const char *);
void	table_end(struct doc *);
void	figure(struct doc *, const char *name, const char *caption);
bool	figure_there(const struct doc *, const char *name);
void	doc_end(struct doc *);
void	doc_free(struct doc *);

/* Numbers for people: three digits, decimal units; "not measured" for NAN. */
extern const char not_measured[];
const char *quantity(struct doc *, double, const char *unit);	/* 1.19 GB */
const char *token_rate(struct doc *, const struct spread *);	/* 9843 tok/s */
const char *duration(struct doc *, double ns);
const char *percent(struct doc *, double ratio);
const char *signed_percent(struct doc *, double ratio);
const char *count(struct doc *, double);	/* 15,015 */
const char *digits(struct doc *, double);	/* three significant */
const char *times(struct doc *, double);	/* 4.21x */
const char *setting(struct doc *, const char *key, const char *val);
const char *label(struct doc *, const char *key);	/* less its unit */
const char *scale_bytes(struct doc *, const char *);	/* within a text */
const char *words(struct doc *, const char *);		/* _ as space */
const char *capital(struct doc *, const char *);
const char *strong(struct doc *, const char *);
const char *text_or(const char *, const char *otherwise);

void	kv_table(struct doc *, const struct kv *, const char *caption);

/* A figure as markup that can stand in the page; NULL and why if not. */
char	*svg_inline(const char *path, const char *name, const char *title,
	    const char **why);

void	write_head(struct doc *);
const char *command_words(struct doc *);	/* NULL: no command was measured */
void	write_verdict(struct doc *);
bool	has_absent(const struct doc *);
void	write_absent(struct doc *);
bool	has_gate(const struct doc *);
void	write_gate(struct doc *);
const char *rung_name(const char *);	/* l1 as L1; the rest in words */
bool	has_ladder(const struct doc *);
void	write_ladder(struct doc *);
bool	has_predicted(const struct doc *);
void	write_predicted(struct doc *);
bool	has_kernels(const struct doc *);
void	write_kernels(struct doc *);
bool	has_routing(const struct doc *);
void	write_routing(struct doc *);
bool	has_speed(const struct doc *);
void	write_speed(struct doc *);
bool	has_roofline(const struct doc *);
void	write_roofline(struct doc *);
bool	has_ceilings(const struct doc *);
void	write_ceilings(struct doc *);
bool	has_timeline(const struct doc *);
const char *traced_slower(struct doc *, const char *phase);	/* ": ...", or "" */
void	write_timeline(struct doc *);
bool	has_ops(const struct doc *);
void	write_ops(struct doc *);
bool	has_detail(const struct doc *);
void	write_detail(struct doc *);
const char *kernel_name(struct doc *, const char *);	/* cut, as code */
bool	has_instructions(const struct doc *);
void	say_instructions(struct doc *);
void	write_instructions(struct doc *);
bool	has_footprint(const struct doc *);
void	write_footprint(struct doc *);
bool	has_machine(const struct doc *);
void	write_machine(struct doc *);
bool	has_made(const struct doc *);
void	write_made(struct doc *);
const char *mixed_captures(struct doc *);	/* what differs; NULL: nothing */
void	write_glossary(struct doc *);

void	write_json(FILE *, const struct run *, const struct summary *);
void	write_compact(FILE *, const struct run *);
void	write_terminal(struct doc *);

#endif
