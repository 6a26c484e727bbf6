module @jit_complex_edges attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<11xf32>, %arg1: tensor<11xf32>, %arg2: tensor<11xf32>, %arg3: tensor<11xf32>) -> (tensor<11xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<11xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<11xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<11xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<11xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<11xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<11xcomplex<f32>> {jax.result_info = "result[6]"}, tensor<11xcomplex<f32>> {jax.result_info = "result[7]"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<11xcomplex<f32>>
    %1 = stablehlo.complex %arg2, %arg3 : tensor<11xcomplex<f32>>
    %2 = stablehlo.sqrt %0 : tensor<11xcomplex<f32>>
    %3 = stablehlo.rsqrt %0 : tensor<11xcomplex<f32>>
    %4 = stablehlo.negate %0 : tensor<11xcomplex<f32>>
    %5 = stablehlo.exponential %4 : tensor<11xcomplex<f32>>
    %cst = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<11xcomplex<f32>>
    %7 = stablehlo.add %6, %5 : tensor<11xcomplex<f32>>
    %cst_0 = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<complex<f32>>) -> tensor<11xcomplex<f32>>
    %9 = stablehlo.divide %8, %7 : tensor<11xcomplex<f32>>
    %10 = stablehlo.log_plus_one %0 : tensor<11xcomplex<f32>>
    %11 = stablehlo.exponential %0 : tensor<11xcomplex<f32>>
    %12 = stablehlo.exponential_minus_one %0 : tensor<11xcomplex<f32>>
    %13 = stablehlo.divide %1, %0 : tensor<11xcomplex<f32>>
    %cst_1 = stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<complex<f32>>) -> tensor<11xcomplex<f32>>
    %15 = stablehlo.multiply %14, %1 : tensor<11xcomplex<f32>>
    %16 = stablehlo.power %15, %1 : tensor<11xcomplex<f32>>
    return %2, %3, %9, %10, %11, %12, %13, %16 : tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>, tensor<11xcomplex<f32>>
  }
}
// bound 6e-07
// arg0 f32 11 e6b1617fe6b161ff000000000000c8c20000c8c2000080bfec78ad6023c70adf000048430000803f000080ff
// arg1 f32 11 000000000000803f000000000000803f00000000ffe6db2e0000803fec78ad60000000000000807f0000807f
// arg2 f32 11 0000803f000000c00000803f00000040000080bf00000000000000000000803f000080bf0000803f0000803f
// arg3 f32 11 00000000000000000000000000000000000000000000803f00000000000000000000803f0000000000000000
// result0 f32 11,2 ce5e705f00000000af52081fce5e705f000000000000000025cc4c3d830020410000000000002041ffe65b2e0000803ff9021550ffe65b2e2779c84f3b85dd4f30466241000000000000807f0000807f0000807f0000807f
// result1 f32 11,2 ae52881f0000008045f24793ae52889f0000807f0000c07f5310033ad5caccbdf23096b1cdccccbd2ebd3bb3000080bffee6db2e5f42228d6430932e5da4a2aec3d0903d0000008000000000000000800000008000000080
// result2 f32 11,2 0000803f0000000000000000000000000000003f0000000000000000000000000000000000000000b1b2893e12f1ac2d0000803f0000000000000000000000000000803f000000000000c0ff0000c0ff0000c0ff0000c0ff
// result3 f32 11,2 9631b142000000009631b142db0f49400000000000000000a40b93405d6a4840390b9340db0f4940f134b8c1db0fc93ff134384208e53c1e093a3842ccd1d53facb4a940000000000000807fdb0fc93f0000807fe4cb1640
// result4 f32 11,2 0000807f0000000000000000000000000000803f0000000000000000000000000000000000000000b25abc3e8bcb212e0000807f0000807f00000000000000000000807f000000000000c0ff0000c0ff0000c0ff0000c0ff
// result5 f32 11,2 0000807f00000000000080bf000000000000000000000000000080bf00000000000080bf00000000a7d221bf8bcb212e0000807f0000807f000080bf000000000000807f000000000000c0ff0000c0ff0000c0ff0000c0ff
// result6 f32 11,2 000000000000000000000000000000800000807f0000c0ffd8d2a3bcb8b151b90ad7233c00000080ffe6db2e000080bf0000000000000000999e959c40063b9e0ad7a3bb0ad7a33b00000000000000800000008000000080
// result7 f32 11,2 00000000000000000000c0ff0000c0ff000000000000000000000000000000000000c0ff0000c0ff0000c0ff0000c0ff0000803f0000000000000000000000000000c0ff0000c0ff00000000000000000000000000000000
