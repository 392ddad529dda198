/* json.c: all of a run's tables with typed numbers, for other programs. */
#include <err.h>
#include <jansson.h>
#include <math.h>

#include "report.h"

/* Columns that are text even where they look like numbers. */
static const char text_columns[] = " name role dtype shape file kernel source "
    "direction rung phase check verdict why bound kind family stage before "
    "after class unit fingerprint ";

static bool
is_text(const char *name)
{
	const char *last = strrchr(name, '_');
	char *key = xasprintf(" %s ", name);
	bool text = strstr(text_columns, key) != NULL || (last != NULL &&
	    (strcmp(last, "_version") == 0 || strcmp(last, "_name") == 0));

	free(key);
	return text;
}

static json_t *
number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

/* NA is null; what is a number becomes one, unless its column is text. */
static json_t *
value(const char *name, const char *s)
{
	bool zeros = s[0] == '0' && s[1] >= '0' && s[1] <= '9';
	int64_t n;
	double x;

	if (strcmp(s, "NA") == 0)
		return json_null();
	if (is_text(name) || zeros)
		return json_string(s);
	if (parse_int(s, &n))
		return json_integer(n);
	return parse_num(s, &x) ? json_real(x) : json_string(s);
}

static void
set(json_t *to, const char *key, json_t *what)
{
	if (json_object_set_new(to, key, what) != 0)
		errx(NS_TROUBLE, "JSON: %s: cannot be written", key);
}

static json_t *
of_table(const struct table *t)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < t->n; i++) {
		json_t *row = json_object();

		for (size_t j = 0; j < t->ncol; j++)
			set(row, t->col[j], value(t->col[j], t->row[i][j]));
		if (json_array_append_new(rows, row) != 0)
			err(NS_TROUBLE, "JSON");
	}
	return rows;
}

static json_t *
of_kv(const struct kv *kv)
{
	json_t *o = json_object();

	for (size_t i = 0; i < kv->n; i++)
		set(o, kv->key[i], value(kv->key[i], kv->val[i]));
	return o;
}

static json_t *
of_kernels(const struct run *r)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->n_kernel; i++) {
		const struct kernel *k = &r->kernel[i];
		json_t *row = json_object();

		set(row, "phase", json_string(k->phase));
		set(row, "kernel", json_string(k->name));
		set(row, "bytes", number(k->bytes));
		set(row, "read_bytes", number(k->read_bytes));
		set(row, "write_bytes", number(k->write_bytes));
		set(row, "n_launches", json_integer((json_int_t)k->n_launches));
		set(row, "n_missing", json_integer((json_int_t)k->n_missing));
		if (json_array_append_new(rows, row) != 0)
			err(NS_TROUBLE, "JSON");
	}
	return rows;
}

static json_t *
of_summary(const struct run *r, const struct summary *s)
{
	json_t *o = json_object();

	set(o, "verdict", json_string(verdict_word[s->verdict]));
	set(o, "reason", json_string(s->reason));
	set(o, "speed_inconclusive", json_boolean(s->speed_moved));
	set(o, "n_pass", json_integer((json_int_t)s->n_pass));
	set(o, "n_warn", json_integer((json_int_t)s->n_warn));
	set(o, "n_fail", json_integer((json_int_t)s->n_fail));
	set(o, "n_na", json_integer((json_int_t)s->n_na));
	set(o, "simulated", json_boolean(r->simulated));
	set(o, "prefill_tokens_per_s", number(tokens_per_s(&s->prefill)));
	set(o, "decode_tokens_per_s", number(tokens_per_s(&s->decode)));
	set(o, "decode_step_dur_ns", number(s->decode.median));
	set(o, "decode_bytes_per_token", number(s->measured_bytes_per_token));
	set(o, "decode_read_bytes_per_token", number(s->measured_read));
	set(o, "decode_predicted_read_bytes_per_token", number(s->predicted_read));
	set(o, "decode_of_memory_read_ceiling_ratio",
	    number(s->no_share != NULL ? NAN : s->of_read_ratio));
	set(o, "decode_of_ceiling_ratio", number(s->of_ceiling_ratio));
	set(o, "decode_busy_ratio", number(s->busy_ratio));
	return o;
}

static const char *
stem(const char *file)
{
	static char name[64];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
	for (char *p = name; *p != '\0'; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

void
write_json(FILE *fp, const struct run *r, const struct summary *s)
{
	json_t *top = json_object(), *t = json_object(), *kv = json_object();

	for (const struct part *p = tables; p->file != NULL; p++)
		if (part_table(r, p)->path != NULL)
			set(t, stem(p->file), of_table(part_table(r, p)));
	if (r->n_kernel > 0)
		set(t, "kernel_bytes", of_kernels(r));
	for (const struct part *p = settings; p->file != NULL; p++)
		if (part_kv(r, p)->n > 0)
			set(kv, stem(p->file), of_kv(part_kv(r, p)));
	set(top, "format", json_integer(1));
	set(top, "run", json_string(r->name));
	set(top, "verdict", of_summary(r, s));
	set(top, "settings", kv);
	set(top, "tables", t);
	if (json_dumpf(top, fp, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0)
		err(NS_TROUBLE, "stdout");
	putc('\n', fp);
	json_decref(top);
}
