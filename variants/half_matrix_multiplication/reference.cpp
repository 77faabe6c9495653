// Half floats come as double, so the definition is that of the product of floats. The scale is the same as well.
#include "../matrix_multiplication/reference.cpp"
