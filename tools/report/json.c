/* json.c: all of a run's tables with typed numbers, for other programs. */
#include <err.h>
#include <math.h>

#include "json.h"

/* Columns that are text even where they look like numbers. */
static const char text_columns[] = " name role dtype shape file kernel source "
    "direction rung phase check verdict why bound kind family stage before "
    "after class unit fingerprint address instruction line launch producer "
    "producer_address ";

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
json_t *
json_value(const char *name, const char *s)
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

void
json_put(json_t *to, const char *key, json_t *what)
{
	if (json_object_set_new(to, key, what) != 0)
		errx(NS_TROUBLE, "JSON: %s: cannot be written", key);
}

void
json_push(json_t *to, json_t *what)
{
	if (json_array_append_new(to, what) != 0)
		errx(NS_TROUBLE, "JSON: cannot be written");
}

static json_t *
of_table(const struct table *t)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < t->n; i++) {
		json_t *row = json_object();

		for (size_t j = 0; j < t->ncol; j++)
			json_put(row, t->col[j], json_value(t->col[j], t->row[i][j]));
		json_push(rows, row);
	}
	return rows;
}

static json_t *
of_kv(const struct kv *kv)
{
	json_t *o = json_object();

	for (size_t i = 0; i < kv->n; i++)
		json_put(o, kv->key[i], json_value(kv->key[i], kv->val[i]));
	return o;
}

static json_t *
of_kernels(const struct run *r)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->n_kernel; i++) {
		const struct kernel *k = &r->kernel[i];
		json_t *row = json_object();

		json_put(row, "phase", json_string(k->phase));
		json_put(row, "kernel", json_string(k->name));
		json_put(row, "bytes", number(k->bytes));
		json_put(row, "read_bytes", number(k->read_bytes));
		json_put(row, "write_bytes", number(k->write_bytes));
		json_put(row, "n_launches", json_integer((json_int_t)k->n_launches));
		json_put(row, "n_missing", json_integer((json_int_t)k->n_missing));
		json_push(rows, row);
	}
	return rows;
}

static json_t *
of_summary(const struct run *r, const struct summary *s)
{
	json_t *o = json_object();

	json_put(o, "verdict", json_string(verdict_word[s->verdict]));
	json_put(o, "reason", json_string(s->reason));
	json_put(o, "speed_inconclusive", json_boolean(s->speed_moved));
	json_put(o, "n_pass", json_integer((json_int_t)s->n_pass));
	json_put(o, "n_warn", json_integer((json_int_t)s->n_warn));
	json_put(o, "n_fail", json_integer((json_int_t)s->n_fail));
	json_put(o, "n_na", json_integer((json_int_t)s->n_na));
	json_put(o, "simulated", json_boolean(r->simulated));
	json_put(o, "prefill_tokens_per_s", number(tokens_per_s(&s->prefill)));
	json_put(o, "decode_tokens_per_s", number(tokens_per_s(&s->decode)));
	json_put(o, "decode_step_dur_ns", number(s->decode.median));
	json_put(o, "decode_bytes_per_token", number(s->measured_bytes_per_token));
	json_put(o, "decode_read_bytes_per_token", number(s->measured_read));
	json_put(o, "decode_predicted_read_bytes_per_token", number(s->predicted_read));
	json_put(o, "decode_of_memory_read_ceiling_ratio",
	    number(s->no_share != NULL ? NAN : s->of_read_ratio));
	json_put(o, "decode_of_ceiling_ratio", number(s->of_ceiling_ratio));
	json_put(o, "decode_busy_ratio", number(s->busy_ratio));
	return o;
}

const char *
json_stem(const char *file)
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
			json_put(t, json_stem(p->file), of_table(part_table(r, p)));
	if (r->n_kernel > 0)
		json_put(t, "kernel_bytes", of_kernels(r));
	for (const struct part *p = settings; p->file != NULL; p++)
		if (part_kv(r, p)->n > 0)
			json_put(kv, json_stem(p->file), of_kv(part_kv(r, p)));
	json_put(top, "format", json_integer(1));
	json_put(top, "run", json_string(r->name));
	json_put(top, "verdict", of_summary(r, s));
	json_put(top, "settings", kv);
	json_put(top, "tables", t);
	if (json_dumpf(top, fp, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0)
		err(NS_TROUBLE, "stdout");
	putc('\n', fp);
	json_decref(top);
}
