#include "nsys.h"
void meta(struct nsys *n, const struct want *want, struct out *out) { (void)n; (void)want; (void)out; }
void diagnostics(struct nsys *n, const struct want *want, struct out *out) { (void)n; (void)want; (void)out; }
