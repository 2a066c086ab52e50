package unit

// SizeClasses are the sizes in bytes that Go's allocator has for small objects, in ascending
// order (runtime/sizeclasses.go, internal/runtime/gc/sizeclasses.go; the same in all versions
// since Go 1.15). Nobody modifies it.
var SizeClasses = []uint64{
	8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 288, 320, 352, 384, 416, 448, 480, 512,
	576, 640, 704, 768, 896, 1024, 1152, 1280, 1408, 1536, 1792, 2048, 2304, 2688, 3072, 3200, 3456, 4096, 4864, 5376, 6144, 6528, 6784, 6912, 8192,
	9472, 9728, 10240, 10880, 12288, 13568, 14336, 16384, 18432, 19072, 20480, 21760, 24576, 27264, 28672, 32768,
}

// allocatorPage is what larger objects are rounded up to, in bytes.
const allocatorPage = 8192

// SizeClass is how many bytes the allocator takes for an object of n bytes.
func SizeClass(n uint64) uint64 {
	for _, s := range SizeClasses {
		if n <= s {
			return s
		}
	}
	return (n + allocatorPage - 1) / allocatorPage * allocatorPage
}
