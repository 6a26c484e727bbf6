/* Owners of memory that arrays share. Whoever lets go of a tensor last may be any thread, inside of
 * a call that allows nothing to be made, or holding a lock that who has Python's waits for: so
 * owners are put into a list, without a lock, and the list is emptied where Python's code may run.
 */
#include "native.h"

struct py_owner {
    py_owner *next;
    PyObject *object; /* NULL: the view's, or that of another library */
    Py_buffer view;
    void *managed; /* NULL, or another library's tensor, which is a hg_dlpack_versioned */
    bool versioned;
    union { /* it again, but released through the list */
        hg_dlpack_managed old;
        hg_dlpack_versioned versioned;
    } ours;
};

static py_owner *released;      /* atomic: the last that was put there */
static bool asked;              /* atomic: Python will call us */
static _Thread_local bool soon; /* this thread empties the list itself */
static _Thread_local bool emptying;

py_owner *py_owner_of(PyObject *object) {
    py_owner *owner = PyMem_Calloc(1, sizeof(*owner));
    if (!owner) return (py_owner *)PyErr_NoMemory();
    Py_XINCREF(object);
    owner->object = object;
    return owner;
}

Py_buffer *py_owner_view(py_owner *owner) { return &owner->view; }

static void let_go_of_managed(const py_owner *owner) {
    if (owner->versioned) {
        hg_dlpack_versioned *managed = owner->managed;
        if (managed->deleter) managed->deleter(managed);
    } else {
        hg_dlpack_managed *managed = owner->managed;
        if (managed->deleter) managed->deleter(managed);
    }
}

void py_owner_free(py_owner *owner) {
    Py_XDECREF(owner->object);
    PyBuffer_Release(&owner->view); /* nothing where there is none */
    if (owner->managed) let_go_of_managed(owner);
    PyMem_Free(owner);
}

static void old_released(hg_dlpack_managed *ours) { py_owner_released(ours->context); }
static void versioned_released(hg_dlpack_versioned *ours) { py_owner_released(ours->context); }

void *py_owner_managed(py_owner *owner, void *managed, bool versioned) {
    owner->managed = managed, owner->versioned = versioned;
    if (!versioned) {
        owner->ours.old = *(hg_dlpack_managed *)managed;
        owner->ours.old.context = owner, owner->ours.old.deleter = old_released;
    } else {
        owner->ours.versioned = *(hg_dlpack_versioned *)managed;
        owner->ours.versioned.context = owner;
        owner->ours.versioned.deleter = versioned_released;
    }
    return &owner->ours;
}

void py_owner_forget(py_owner *owner) {
    owner->managed = NULL;
    py_owner_free(owner);
}

void py_empty_released(void) {
    if (!__atomic_load_n(&released, __ATOMIC_ACQUIRE) || emptying) return;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    emptying = true; /* what a destructor lets go of comes next, not inside of it */
    for (py_owner *first; (first = __atomic_exchange_n(&released, NULL, __ATOMIC_ACQ_REL));)
        while (first) {
            py_owner *next = first->next;
            py_owner_free(first);
            first = next;
        }
    emptying = false;
    PyErr_Restore(type, value, trace);
}

static int empty_pending(void *none) {
    (void)none;
    __atomic_store_n(&asked, false, __ATOMIC_RELEASE);
    py_empty_released();
    return 0;
}

void py_owner_released(void *user) {
    py_owner *owner = user;
    if (!Py_IsInitialized()) return; /* the process ends: the memory goes with it */
    owner->next = __atomic_load_n(&released, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&released, &owner->next, owner, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    if (soon || __atomic_exchange_n(&asked, true, __ATOMIC_ACQ_REL)) return;
    if (Py_AddPendingCall(empty_pending, NULL) < 0) /* the next call of this module does it */
        __atomic_store_n(&asked, false, __ATOMIC_RELEASE);
}

void py_tensor_release(hg_tensor *tensor) {
    bool before = soon;
    soon = true;
    hg_tensor_release(tensor);
    soon = before;
    py_empty_released();
}
