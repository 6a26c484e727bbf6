struct gcd3_record {
    const unsigned *a, *b, *c;
    unsigned *out;
    unsigned n;
};
static __device__ __forceinline__ unsigned gcd(unsigned a, unsigned b) {
    while (b != 0) {
        unsigned t = a % b;
        a = b;
        b = t;
    }
    return a;
}
extern "C" __global__ void gcd3(const __grid_constant__ gcd3_record r) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < r.n) r.out[i] = gcd(gcd(r.a[i], r.b[i]), r.c[i]);
}
