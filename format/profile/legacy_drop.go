package profile

import "strings"

// interesting says which frames a viewer is to leave out: allocators, locks and
// the handlers of signals. Profiles that bring names, as those of Go with
// debug=1, have no such frames at their leaves any more.
func (b *builder) interesting(symbols bool) {
	if symbols {
		return
	}
	var names []string
	for _, t := range b.types {
		names = append(names, t.Type)
	}
	switch strings.Join(names, " ") {
	case "allocations size", "objects space", "inuse_objects inuse_space", "alloc_objects alloc_space",
		"alloc_objects alloc_space inuse_objects inuse_space":
		b.drop, b.keep = either(dropAlloc), either(keepAlloc)
	case "contentions delay":
		b.drop = either(dropLock)
	default:
		b.drop = either(dropCPU)
	}
}

// either makes one regular expression of the words of a text. Each is one, with
// _ for a space.
func either(words string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(words), "|"), "operator_", "operator ")
}

// The functions that google/pprof writes into drop_frames and keep_frames of
// the formats that cannot say so, in its order: a profile that is written again
// is the same. The lists are part of what these formats mean to its users.
const (
	dropAlloc = `
		calloc cfree malloc free memalign do_memalign (__)?posix_memalign pvalloc valloc realloc
		tcmalloc::.* tc_calloc tc_cfree tc_malloc tc_free tc_memalign tc_posix_memalign tc_pvalloc
		tc_valloc tc_realloc tc_new tc_delete tc_newarray tc_deletearray tc_new_nothrow
		tc_newarray_nothrow malloc_zone_malloc malloc_zone_calloc malloc_zone_valloc
		malloc_zone_realloc malloc_zone_memalign malloc_zone_free runtime\..* BaseArena::.*
		(::)?do_malloc_no_errno (::)?do_malloc_pages (::)?do_malloc DoSampledAllocation
		MallocedMemBlock::MallocedMemBlock _M_allocate __builtin_(vec_)?delete __builtin_(vec_)?new
		__gnu_cxx::new_allocator::allocate __libc_malloc __malloc_alloc_template::allocate allocate
		cpp_alloc operator_new(\[\])? simple_alloc::allocate`
	keepAlloc = `
		runtime\.panic runtime\.reflectcall runtime\.call[0-9]*`
	dropCPU = `
		ProfileData::Add ProfileData::prof_handler CpuProfiler::prof_handler __pthread_sighandler
		__restore`
	dropLock = `
		RecordLockProfileData (base::)?RecordLockProfileData.* (base::)?SubmitMutexProfileData.*
		(base::)?SubmitSpinLockProfileData.* (base::Mutex::)?AwaitCommon.* (base::Mutex::)?Unlock.*
		(base::Mutex::)?UnlockSlow.* (base::Mutex::)?ReaderUnlock.* (base::MutexLock::)?~MutexLock.*
		(Mutex::)?AwaitCommon.* (Mutex::)?Unlock.* (Mutex::)?UnlockSlow.* (Mutex::)?ReaderUnlock.*
		(MutexLock::)?~MutexLock.* (SpinLock::)?Unlock.* (SpinLock::)?SlowUnlock.*
		(SpinLockHolder::)?~SpinLockHolder.*`
)
