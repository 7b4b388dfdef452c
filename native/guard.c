/* The door between Python and the built kernels.

   A kernel is machine code that believes what it is told: an array of another type, another number of dimensions
   or another layout would be misread, and None would end the process. Every argument is therefore checked here
   against what the kernel was built for, through the buffer protocol alone (no NumPy headers, stable ABI): what
   does not fit is a TypeError that names the argument. Lengths and contents (labels within their range, say) are the
   caller's business, as for any kernel. Kernels run without the interpreter's lock.

   What a kernel takes and gives is said by a short text, made by build_kernels.py:
     q Q d ?      a whole number, an unsigned one, a number, yes or no
     [ndT-  [ndTw  an array of n dimensions of type T in C order; w: it is written to
     (...)        a tuple of these
     n            nothing (only given)
*/
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARRAYS 96
#define MOST_SLOTS 512
#define MOST_RESULTS 64
#define MOST_DIMENSIONS 8

typedef struct {
    const void *pickled;
    int32_t size;
    const void *hash, *unwrap;
    int32_t allocated;
} Raised; /* what Numba keeps of an exception */

typedef int32_t (*Entry)(const Raised **raised, const int64_t *taken, int64_t *given);

typedef struct {
    const char *name, *parameters, *takes, *gives;
    Entry run;
} Built;

extern const Built mahrem_built[]; /* ends with an empty name; variants of one kernel stand together */

/* ---- memory that kernels allocate: the functions that Numba's code calls, by the names it calls them ---- */

typedef void (*Destructor)(void *data, size_t size, void *more);

typedef struct {
    atomic_size_t references;
    Destructor destroy;
    void *more;
    void *data;
    size_t size;
    void *allocator;
} Memory;

#define HIDDEN __attribute__((visibility("hidden")))
#ifdef _MSC_VER
#undef HIDDEN
#define HIDDEN
#endif

static Memory *new_memory(size_t extra) {
    Memory *memory = malloc(sizeof(Memory) + extra);
    if (memory != NULL) {
        memset(memory, 0, sizeof(Memory));
        atomic_init(&memory->references, 1);
    }
    return memory;
}

HIDDEN Memory *NRT_MemInfo_alloc_aligned(size_t size, unsigned align) {
    if (size > SIZE_MAX - sizeof(Memory) - align) return NULL;
    Memory *memory = new_memory(size + align);
    if (memory == NULL) return NULL;
    uintptr_t first = (uintptr_t)(memory + 1);
    memory->data = (void *)(align > 1 ? (first + align - 1) / align * align : first);
    memory->size = size;
    return memory;
}

HIDDEN Memory *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 1); }

HIDDEN void *NRT_Allocate(size_t size) { return malloc(size ? size : 1); }

HIDDEN void NRT_Free(void *data) { free(data); }

/* Other shape, same items: kernels ask this of arrays in C order alone; 0 says that it would need a copy. */
HIDDEN int numba_attempt_nocopy_reshape(Py_ssize_t dimensions, const Py_ssize_t *lengths, const Py_ssize_t *strides,
                                        Py_ssize_t wanted, const Py_ssize_t *shape, Py_ssize_t *steps,
                                        Py_ssize_t itemsize, int columns_first) {
    Py_ssize_t step = itemsize;
    for (Py_ssize_t i = dimensions - 1; i >= 0; i--) {
        if (lengths[i] != 1 && strides[i] != step) return 0;
        step *= lengths[i];
    }
    if (columns_first && wanted > 1) return 0;
    step = itemsize;
    for (Py_ssize_t i = wanted - 1; i >= 0; i--) {
        steps[i] = step;
        step *= shape[i];
    }
    return 1;
}

static void free_varying(void *data, size_t size, void *more) {
    if (more != NULL) ((Destructor)more)(data, size, NULL);
    free(data);
}

HIDDEN Memory *NRT_MemInfo_new_varsize_dtor(size_t size, Destructor destroy) {
    Memory *memory = new_memory(0);
    if (memory == NULL) return NULL;
    memory->data = malloc(size ? size : 1);
    if (memory->data == NULL) {
        free(memory);
        return NULL;
    }
    memory->size = size;
    memory->destroy = free_varying;
    memory->more = (void *)destroy;
    return memory;
}

HIDDEN Memory *NRT_MemInfo_new_varsize(size_t size) { return NRT_MemInfo_new_varsize_dtor(size, NULL); }

HIDDEN void *NRT_MemInfo_varsize_realloc(Memory *memory, size_t size) {
    void *data = realloc(memory->data, size ? size : 1);
    if (data != NULL) {
        memory->data = data;
        memory->size = size;
    }
    return data;
}

HIDDEN void NRT_MemInfo_varsize_free(Memory *memory, void *data) {
    free(data);
    if (memory->data == data) memory->data = NULL;
}

HIDDEN void NRT_MemInfo_call_dtor(Memory *memory) {
    if (memory->destroy != NULL) memory->destroy(memory->data, memory->size, memory->more);
    free(memory);
}

static void release(Memory *memory) {
    if (memory != NULL && atomic_fetch_sub(&memory->references, 1) == 1) NRT_MemInfo_call_dtor(memory);
}

/* ---- types of array items: letters of the buffer protocol, by kind and size ---- */

static char item_type(const char *format, Py_ssize_t size) {
    if (format == NULL) return 0;
    if (*format == '@' || *format == '=') format++;
    if (format[0] == 0 || format[1] != 0) return 0;
    switch (*format) {
        case '?': return size == 1 ? '?' : 0;
        case 'b': case 'h': case 'i': case 'l': case 'q': case 'n':
            return size == 1 ? 'b' : size == 4 ? 'i' : size == 8 ? 'q' : 0;
        case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N':
            return size == 1 ? 'B' : size == 4 ? 'I' : size == 8 ? 'Q' : 0;
        case 'f': return size == 4 ? 'f' : 0;
        case 'd': return size == 8 ? 'd' : 0;
        default: return 0;
    }
}

static Py_ssize_t item_size(char type) {
    switch (type) {
        case '?': case 'b': case 'B': return 1;
        case 'i': case 'I': case 'f': return 4;
        default: return 8;
    }
}

static const char *type_name(char type) {
    switch (type) {
        case '?': return "bool";
        case 'b': return "int8";
        case 'B': return "uint8";
        case 'i': return "int32";
        case 'I': return "uint32";
        case 'q': return "int64";
        case 'Q': return "uint64";
        case 'f': return "float32";
        case 'd': return "float64";
        default: return "another type";
    }
}

/* ---- taking arguments ---- */

typedef struct {
    const char *wanted; /* where the text stood */
    const char *why;    /* NULL: an array of another type or number of dimensions, which are: */
    char had;
    int dimensions;
} Misfit;

typedef struct {
    Py_buffer views[MOST_ARRAYS];
    int64_t slots[MOST_SLOTS];
    int arrays, used;
    Misfit misfit; /* what did not fit */
} Taken;

typedef struct {
    PyObject *asarray, *loads, *boolean, *block_type, *kernel_type;
} State;

#define MISFIT (-1)
#define RAISED (-2) /* something else went wrong: an interrupt, no memory */

static int misfit(Taken *taken, const char *wanted, const char *why) {
    if (PyErr_Occurred()) { /* only "this is no such thing" is a misfit */
        if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
            !PyErr_ExceptionMatches(PyExc_OverflowError) && !PyErr_ExceptionMatches(PyExc_BufferError))
            return RAISED;
        PyErr_Clear();
    }
    taken->misfit.wanted = wanted;
    taken->misfit.why = why;
    return MISFIT;
}

static int in_one_piece(const Py_buffer *view) {
    Py_ssize_t step = view->itemsize;
    if (view->strides == NULL) return 1;
    for (int i = view->ndim - 1; i >= 0; i--) {
        if (view->shape[i] == 0) return 1;
        if (view->shape[i] != 1 && view->strides[i] != step) {
            for (int j = 0; j < i; j++)
                if (view->shape[j] == 0) return 1;
            return 0;
        }
        step *= view->shape[i];
    }
    return 1;
}

static int take_array(Taken *taken, const char *wanted, PyObject *given) {
    int dimensions = wanted[1] - '0', written = wanted[3] == 'w';
    Py_buffer *view = &taken->views[taken->arrays];
    taken->misfit.had = 0;
    if (PyObject_GetBuffer(given, view, PyBUF_STRIDES | PyBUF_FORMAT) < 0)
        return misfit(taken, wanted, "got no array");
    taken->arrays++;
    taken->misfit.had = item_type(view->format, view->itemsize);
    taken->misfit.dimensions = view->ndim;
    if (taken->misfit.had != wanted[2] || view->ndim != dimensions) return misfit(taken, wanted, NULL);
    if (!in_one_piece(view)) return misfit(taken, wanted, "got one that is not in one piece (C order)");
    if ((uintptr_t)view->buf % (uintptr_t)view->itemsize) return misfit(taken, wanted, "got one that is not aligned");
    if (written && view->readonly) return misfit(taken, wanted, "got one that may only be read");
    taken->slots[taken->used++] = (int64_t)(intptr_t)view->buf;
    for (int i = 0; i < dimensions; i++) taken->slots[taken->used++] = view->shape[i];
    return 0;
}

/* Take one argument; moves the text on. Gives 0, MISFIT or RAISED. */
static int take(const State *state, Taken *taken, const char **text, PyObject *given) {
    const char *wanted = *text;
    union { double number; int64_t bits; } both;
    switch (*wanted) {
        case 'q': case 'Q': {
            *text += 1;
            PyObject *whole = PyFloat_Check(given) ? NULL : PyNumber_Index(given);
            if (whole == NULL) return misfit(taken, wanted, "got something else");
            int64_t number = *wanted == 'q' ? PyLong_AsLongLong(whole) : (int64_t)PyLong_AsUnsignedLongLong(whole);
            Py_DECREF(whole);
            if (PyErr_Occurred()) return misfit(taken, wanted, "got one beyond 64 bits");
            taken->slots[taken->used++] = number;
            return 0;
        }
        case 'd':
            *text += 1;
            both.number = PyFloat_AsDouble(given);
            if (PyErr_Occurred()) return misfit(taken, wanted, "got something else");
            taken->slots[taken->used++] = both.bits;
            return 0;
        case '?':
            *text += 1;
            if (!PyBool_Check(given) && (PyObject *)Py_TYPE(given) != state->boolean)
                return misfit(taken, wanted, "got something else");
            taken->slots[taken->used++] = PyObject_IsTrue(given) == 1;
            return 0;
        case '[':
            *text += 4;
            return take_array(taken, wanted, given);
        case '(': {
            *text += 1;
            Py_ssize_t place = 0;
            if (!PyTuple_Check(given)) return misfit(taken, wanted, "got something else");
            Py_ssize_t length = PyTuple_Size(given);
            while (**text != ')') {
                if (place == length) return misfit(taken, wanted, "got too short a tuple");
                int fits = take(state, taken, text, PyTuple_GetItem(given, place++));
                if (fits < 0) return fits;
            }
            *text += 1;
            return place == length ? 0 : misfit(taken, wanted, "got too long a tuple");
        }
        default:
            return misfit(taken, wanted, "is unknown to this build");
    }
}

static void let_go(Taken *taken) {
    while (taken->arrays) PyBuffer_Release(&taken->views[--taken->arrays]);
    taken->used = 0;
}

static void complain(const Built *built, const Misfit *misfit, Py_ssize_t place, Py_ssize_t count) {
    const char *name = built->parameters, *end;
    if (place < 0) {
        Py_ssize_t wanted = 1;
        for (; *name; name++) wanted += *name == ',';
        PyErr_Format(PyExc_TypeError, "%s: takes %zd arguments, got %zd", built->name, wanted, count);
        return;
    }
    for (Py_ssize_t i = 0; i < place; i++) name = strchr(name, ',') + 1;
    end = strchr(name, ',');
    int length = end ? (int)(end - name) : (int)strlen(name);
    char parameter[80], wanted[96], had[96];
    PyOS_snprintf(parameter, sizeof parameter, "%.*s", length > 60 ? 60 : length, name);
    switch (*misfit->wanted) {
        case '[':
            PyOS_snprintf(wanted, sizeof wanted, "%s array of %s with %c dimension(s), in C order",
                          misfit->wanted[3] == 'w' ? "a writable" : "an", type_name(misfit->wanted[2]), misfit->wanted[1]);
            break;
        case '(': PyOS_snprintf(wanted, sizeof wanted, "a tuple of the right length"); break;
        case 'd': PyOS_snprintf(wanted, sizeof wanted, "a number"); break;
        case '?': PyOS_snprintf(wanted, sizeof wanted, "True or False"); break;
        default: PyOS_snprintf(wanted, sizeof wanted, "a whole number of 64 bits"); break;
    }
    if (misfit->why == NULL)
        PyOS_snprintf(had, sizeof had, "got one of %s with %d", type_name(misfit->had), misfit->dimensions);
    PyErr_Format(PyExc_TypeError, "%s: %s must be %s; %s", built->name, parameter, wanted,
                 misfit->why ? misfit->why : had);
}

/* ---- giving results ---- */

typedef struct {
    PyObject_HEAD
    Memory *memory;
    void *data;
    char format[2];
    int dimensions;
    Py_ssize_t shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
} Block; /* memory that a kernel gave, as something NumPy can look into */

static int block_buffer(PyObject *self, Py_buffer *view, int flags) {
    Block *block = (Block *)self;
    (void)flags;
    view->obj = self;
    Py_INCREF(self);
    view->buf = block->data;
    view->itemsize = item_size(block->format[0]);
    view->len = view->itemsize;
    for (int i = 0; i < block->dimensions; i++) view->len *= block->shape[i];
    view->readonly = 0;
    view->ndim = block->dimensions;
    view->format = block->format;
    view->shape = block->shape;
    view->strides = block->strides;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void block_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    release(((Block *)self)->memory);
    freefunc release_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release_object(self);
    Py_DECREF(type);
}

static PyType_Slot block_slots[] = {
    {Py_tp_dealloc, block_free},
    {Py_bf_getbuffer, block_buffer},
    {0, NULL},
};
static PyType_Spec block_spec = {
    "mahrem.arrays.Block", sizeof(Block), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, block_slots};

static PyObject *give_array(const State *state, const char *text, const int64_t **slots) {
    Memory *memory = (Memory *)(intptr_t)*(*slots)++;
    PyTypeObject *type = (PyTypeObject *)state->block_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Block *block = (Block *)allocate(type, 0);
    if (block == NULL) {
        release(memory);
        return NULL;
    }
    block->memory = memory;
    block->data = (void *)(intptr_t)*(*slots)++;
    block->format[0] = text[2];
    if (sizeof(long) == 8 && text[2] == 'q') block->format[0] = 'l'; /* as NumPy names its int64 here */
    if (sizeof(long) == 8 && text[2] == 'Q') block->format[0] = 'L';
    block->dimensions = text[1] - '0';
    for (int i = 0; i < block->dimensions; i++) block->shape[i] = (Py_ssize_t)*(*slots)++;
    for (int i = 0; i < block->dimensions; i++) block->strides[i] = (Py_ssize_t)*(*slots)++;
    PyObject *array = PyObject_CallFunctionObjArgs(state->asarray, (PyObject *)block, NULL);
    Py_DECREF(block);
    if (memory == NULL && array != NULL) { /* a part of an argument: its owner may go */
        PyObject *own = PyObject_CallMethod(array, "copy", NULL);
        Py_DECREF(array);
        array = own;
    }
    return array;
}

/* Pass over a result that nobody wants any more, after a failure; memory that it came with is given back. */
static PyObject *drop(const char **text, const int64_t **slots) {
    const char *wanted = *text;
    *text += *wanted == '[' ? 4 : 1;
    if (*wanted == '[') {
        release((Memory *)(intptr_t)**slots);
        *slots += 2 + 2 * (wanted[1] - '0');
    } else if (*wanted == '(') {
        while (**text != ')') drop(text, slots);
        *text += 1;
    } else if (*wanted != 'n') {
        *slots += 1;
    }
    return NULL;
}

static PyObject *give(const State *state, const char **text, const int64_t **slots) {
    union { double number; int64_t bits; } both;
    const char *wanted = *text;
    *text += *wanted == '[' ? 4 : 1;
    switch (*wanted) {
        case 'n': Py_RETURN_NONE;
        case 'q': return PyLong_FromLongLong(*(*slots)++);
        case 'Q': return PyLong_FromUnsignedLongLong((uint64_t)*(*slots)++);
        case '?': return PyBool_FromLong((long)*(*slots)++);
        case 'd': both.bits = *(*slots)++; return PyFloat_FromDouble(both.number);
        case '[': return give_array(state, wanted, slots);
        case '(': {
            PyObject *list = PyList_New(0), *tuple = NULL;
            int failed = list == NULL;
            while (**text != ')') {
                PyObject *part = failed ? drop(text, slots) : give(state, text, slots);
                failed |= part == NULL || PyList_Append(list, part) < 0;
                Py_XDECREF(part);
            }
            *text += 1;
            if (!failed) tuple = PyList_AsTuple(list);
            Py_XDECREF(list);
            return tuple;
        }
        default:
            PyErr_SetString(PyExc_SystemError, "a kernel gives what this build does not know");
            return NULL;
    }
}

static void raise_from(const State *state, const Built *built, int32_t status, const Raised *raised) {
    /* 1 is an exception of Numba's; its type and arguments are kept as a pickle of (type, arguments, place) */
    if (status == 1 && raised != NULL && raised->unwrap == NULL) {
        PyObject *kept = PyObject_CallFunction(state->loads, "y#", raised->pickled, (Py_ssize_t)raised->size);
        if (kept == NULL) return;
        PyObject *type = PyTuple_GetItem(kept, 0), *arguments = PyTuple_GetItem(kept, 1);
        if (type != NULL && arguments != NULL) PyErr_SetObject(type, arguments);
        Py_DECREF(kept);
        return;
    }
    PyErr_Format(PyExc_RuntimeError, "%s: ended with status %d", built->name, (int)status);
}

/* ---- the callable ---- */

typedef struct {
    PyObject_HEAD
    const Built *first;
    PyObject *function; /* the same in plain Python: its words, its module, and what tests compare with */
    State *state;
    PyObject *module;
} Kernel;

/* Take all arguments. Gives their number, or the place of the first that does not fit; -1 if there are too many or
   too few, and RAISED. */
static Py_ssize_t take_all(const State *state, Taken *taken, const Built *built, PyObject *arguments) {
    Py_ssize_t count = PyTuple_Size(arguments);
    const char *text = built->takes;
    for (Py_ssize_t place = 0; place < count; place++) {
        if (*text == 0) return -1;
        int fits = take(state, taken, &text, PyTuple_GetItem(arguments, place));
        if (fits < 0) return fits == RAISED ? RAISED : place;
    }
    return *text == 0 ? count : -1;
}

static PyObject *kernel_call(PyObject *self, PyObject *arguments, PyObject *keywords) {
    Kernel *kernel = (Kernel *)self;
    const State *state = kernel->state;
    if (keywords != NULL && PyDict_Size(keywords) > 0) {
        PyErr_Format(PyExc_TypeError, "%s: takes arguments by position only", kernel->first->name);
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(arguments), place = 0;
    Taken taken; /* large, but only what is used is touched */
    taken.arrays = taken.used = 0;
    const Built *built = kernel->first, *best = built;
    Misfit reason = {"", "", 0, 0};
    Py_ssize_t farthest = RAISED;
    for (; built->name != NULL && strcmp(built->name, kernel->first->name) == 0; built++) {
        place = take_all(state, &taken, built, arguments);
        if (place == count) goto fits;
        let_go(&taken);
        if (place == RAISED) return NULL;
        if (place > farthest) {
            farthest = place;
            best = built;
            reason = taken.misfit;
        }
    }
    complain(best, &reason, farthest, count);
    return NULL;
fits:;
    int64_t given[MOST_RESULTS];
    const Raised *raised = NULL;
    PyThreadState *lock = PyEval_SaveThread();
    int32_t status = built->run(&raised, taken.slots, given);
    PyEval_RestoreThread(lock);
    PyObject *result = NULL;
    if (status == 0) {
        const char *text = built->gives;
        const int64_t *slots = given;
        result = give(state, &text, &slots);
    } else {
        raise_from(state, built, status, raised);
    }
    let_go(&taken);
    return result;
}

static void kernel_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((Kernel *)self)->function);
    Py_XDECREF(((Kernel *)self)->module);
    freefunc release_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release_object(self);
    Py_DECREF(type);
}

static PyObject *kernel_get(PyObject *self, void *name) {
    return PyObject_GetAttrString(((Kernel *)self)->function, (const char *)name);
}

static PyObject *kernel_function(PyObject *self, void *unused) {
    (void)unused;
    Py_INCREF(((Kernel *)self)->function);
    return ((Kernel *)self)->function;
}

static PyObject *kernel_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyObject_GetAttrString(((Kernel *)self)->function, "__qualname__"); /* pickled by name, as functions are */
}

static PyObject *kernel_repr(PyObject *self) {
    return PyUnicode_FromFormat("<built kernel %s>", ((Kernel *)self)->first->name);
}

static PyGetSetDef kernel_fields[] = {
    {"__wrapped__", kernel_function, NULL, "The kernel in plain Python.", NULL},
    {"__name__", kernel_get, NULL, NULL, "__name__"},
    {"__qualname__", kernel_get, NULL, NULL, "__qualname__"},
    {"__module__", kernel_get, NULL, NULL, "__module__"},
    {"__doc__", kernel_get, NULL, NULL, "__doc__"},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef kernel_methods[] = {
    {"__reduce__", kernel_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_dealloc, kernel_free}, {Py_tp_call, kernel_call},         {Py_tp_repr, kernel_repr},
    {Py_tp_getset, kernel_fields}, {Py_tp_methods, kernel_methods}, {0, NULL},
};
static PyType_Spec kernel_spec = {
    "mahrem.arrays.Kernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kernel_slots};

/* ---- the processor ---- */

#if defined(__x86_64__) || defined(_M_X64)
#ifdef _MSC_VER
#include <intrin.h>
static void ask_processor(unsigned leaf, unsigned answer[4]) { __cpuidex((int *)answer, (int)leaf, 0); }
static uint64_t saved_registers(void) { return _xgetbv(0); }
#else
#include <cpuid.h>
static void ask_processor(unsigned leaf, unsigned answer[4]) {
    __cpuid_count(leaf, 0, answer[0], answer[1], answer[2], answer[3]);
}
static uint64_t saved_registers(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}
#endif

/* x86-64-v3: AVX2, FMA, BMI1 and BMI2, F16C, MOVBE, LZCNT, and a system that saves wide registers */
static int is_newer(void) {
    unsigned most[4], first[4], second[4], third[4];
    ask_processor(0, most);
    if (most[0] < 7) return 0;
    ask_processor(1, first);
    ask_processor(7, second);
    ask_processor(0x80000001u, third);
    unsigned in_first = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29, in_second = 1u << 3 | 1u << 5 | 1u << 8;
    if ((first[2] & in_first) != in_first || (second[1] & in_second) != in_second) return 0;
    return (third[2] & 1u << 5) != 0 && (saved_registers() & 6) == 6;
}
#else
static int is_newer(void) { return 0; }
#endif

static PyObject *newer_processor(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(is_newer());
}

/* ---- the module ---- */

/* bind(name, function): the built kernel of that name, or None */
static PyObject *bind(PyObject *module, PyObject *arguments) {
    const char *name;
    PyObject *function;
    if (!PyArg_ParseTuple(arguments, "sO", &name, &function)) return NULL;
    State *state = PyModule_GetState(module);
    for (const Built *built = mahrem_built; built->name != NULL; built++) {
        if (strcmp(built->name, name) != 0) continue;
        PyTypeObject *type = (PyTypeObject *)state->kernel_type;
        allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
        Kernel *kernel = (Kernel *)allocate(type, 0);
        if (kernel == NULL) return NULL;
        Py_INCREF(function);
        Py_INCREF(module);
        kernel->first = built;
        kernel->function = function;
        kernel->state = state;
        kernel->module = module;
        return (PyObject *)kernel;
    }
    Py_RETURN_NONE;
}

/* listed(): (name, takes, gives) of every variant of every kernel */
static PyObject *listed(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (const Built *built = mahrem_built; list != NULL && built->name != NULL; built++) {
        PyObject *row = Py_BuildValue("(sss)", built->name, built->takes, built->gives);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyMethodDef module_methods[] = {
    {"bind", bind, METH_VARARGS, "Give the built kernel of a name for its Python function, or None."},
    {"newer_processor", newer_processor, METH_NOARGS, "Say whether this processor runs the kernels called v3."},
    {"listed", listed, METH_NOARGS, "List what was built: name, what it takes, what it gives."},
    {NULL, NULL, 0, NULL},
};

static PyObject *imported(const char *module, const char *name) {
    PyObject *found = PyImport_ImportModule(module), *value = NULL;
    if (found != NULL) value = PyObject_GetAttrString(found, name);
    Py_XDECREF(found);
    return value;
}

static int module_exec(PyObject *module) {
    State *state = PyModule_GetState(module);
    state->asarray = imported("numpy", "asarray");
    state->boolean = imported("numpy", "bool_");
    state->loads = imported("pickle", "loads");
    state->block_type = PyType_FromSpec(&block_spec);
    state->kernel_type = PyType_FromSpec(&kernel_spec);
    return state->asarray && state->boolean && state->loads && state->block_type && state->kernel_type ? 0 : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT(state->asarray);
    Py_VISIT(state->boolean);
    Py_VISIT(state->loads);
    Py_VISIT(state->block_type);
    Py_VISIT(state->kernel_type);
    return 0;
}

static int module_clear(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->asarray);
    Py_CLEAR(state->boolean);
    Py_CLEAR(state->loads);
    Py_CLEAR(state->block_type);
    Py_CLEAR(state->kernel_type);
    return 0;
}

static void module_free(void *module) { module_clear((PyObject *)module); }

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "built", "Kernels built ahead of time.", sizeof(State), module_methods,
    module_slots, module_traverse, module_clear, module_free,
};

PyMODINIT_FUNC MAHREM_INIT(void) { return PyModuleDef_Init(&module_definition); }
