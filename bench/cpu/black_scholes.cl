#pragma OPENCL FP_CONTRACT OFF
__kernel void black_scholes(__global const float *spot, __global const float *strike, __global const float *years, __global float *call,
                            __global float *put, float rate, float volatility, uint n) {
    uint i = get_global_id(0);
    if (i >= n) return;
    float s = spot[i], k = strike[i], t = years[i], deviation = sqrt(t) * volatility;
    float d = fma(deviation, 0.5f, fma(rate, t, log(s / k)) / deviation), e = d - deviation;
    d = fma(erf(d * 0.70710678f), 0.5f, 0.5f);
    e = fma(erf(e * 0.70710678f), 0.5f, 0.5f);
    k = k * exp(-(t * rate));
    float c = fma(s, d, -(e * k));
    call[i] = c;
    put[i] = c - s + k;
}
