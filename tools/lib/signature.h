/* signature.h: of a function as C++ writes it, what people call it. */
#ifndef SIGNATURE_H
#define SIGNATURE_H

/*
 * "void ns::f<int>(float*) const" as ns::f<int>; within s, which is changed.  What
 * has no parameters is no signature, and stays.
 */
char	*signature_name(char *s);

#endif
