// Objects of this library are never destroyed: programs call until their very end. The destructor of a global object
// frees its memory after main, and so after the destructors of everything that was made while main ran.
//
// A compiler registers each destructor of an object with static storage by this function. This one belongs to the
// library alone, and forgets it.
extern "C" int __cxa_atexit(void (* /*destructor*/)(void*), void* /*object*/, void* /*library*/) {  // NOLINT
  return 0;
}
