/* The C library has these functions for vectors, too, accurate to a few units of a double's last
 * place: loops over plain calls may become calls of those. */
#ifndef TESTS_SWEEP_X86_VECTOR_MATH_H
#define TESTS_SWEEP_X86_VECTOR_MATH_H

#define OF_VECTORS __attribute__((__simd__("notinbranch")))
OF_VECTORS double exp(double x);
OF_VECTORS double expm1(double x);
OF_VECTORS double log(double x);
OF_VECTORS double log1p(double x);
OF_VECTORS double tanh(double x);
OF_VECTORS double erfc(double x);
OF_VECTORS double pow(double x, double y);
#undef OF_VECTORS

#endif
