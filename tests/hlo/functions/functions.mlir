module @jit_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}, tensor<8xf32> {jax.result_info = "result[5]"}, tensor<8xf32> {jax.result_info = "result[6]"}, tensor<8xf32> {jax.result_info = "result[7]"}, tensor<8xf32> {jax.result_info = "result[8]"}, tensor<8xf32> {jax.result_info = "result[9]"}, tensor<8xf32> {jax.result_info = "result[10]"}, tensor<8xf32> {jax.result_info = "result[11]"}, tensor<8xf32> {jax.result_info = "result[12]"}, tensor<8xf32> {jax.result_info = "result[13]"}, tensor<8xf32> {jax.result_info = "result[14]"}, tensor<8xf32> {jax.result_info = "result[15]"}, tensor<8xf32> {jax.result_info = "result[16]"}) {
    %0 = stablehlo.exponential %arg0 : tensor<8xf32>
    %1 = stablehlo.abs %arg0 : tensor<8xf32>
    %2 = stablehlo.log_plus_one %1 : tensor<8xf32>
    %3 = stablehlo.sine %arg0 : tensor<8xf32>
    %4 = stablehlo.cosine %arg0 : tensor<8xf32>
    %5 = stablehlo.tanh %arg0 : tensor<8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %7 = stablehlo.add %arg0, %6 : tensor<8xf32>
    %8 = stablehlo.atan2 %arg0, %7 : tensor<8xf32>
    %9 = stablehlo.cbrt %arg0 : tensor<8xf32>
    %10 = stablehlo.exponential_minus_one %arg0 : tensor<8xf32>
    %11 = stablehlo.floor %arg0 : tensor<8xf32>
    %12 = call @round(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
    %13 = stablehlo.sign %arg0 : tensor<8xf32>
    %14 = stablehlo.tan %arg0 : tensor<8xf32>
    %15 = stablehlo.abs %arg0 : tensor<8xf32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %17 = stablehlo.power %15, %16 : tensor<8xf32>
    %18 = stablehlo.negate %arg0 : tensor<8xf32>
    %19 = stablehlo.exponential %18 : tensor<8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %21 = stablehlo.add %20, %19 : tensor<8xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %23 = stablehlo.divide %22, %21 : tensor<8xf32>
    %24 = stablehlo.abs %arg0 : tensor<8xf32>
    %25 = stablehlo.sqrt %24 : tensor<8xf32>
    %26 = stablehlo.abs %arg0 : tensor<8xf32>
    %27 = stablehlo.log %26 : tensor<8xf32>
    %28 = stablehlo.ceil %arg0 : tensor<8xf32>
    return %0, %2, %3, %4, %5, %8, %9, %10, %11, %12, %13, %14, %17, %23, %25, %27, %28 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func private @round(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
// bound 6e-07
// arg0 f32 8 7054273ff753a13f7a41b8bebc0d2dbfc6bcacbef2b7913e15d5233fe252973f
// result0 f32 8 d814f63f2ab66140a7a0323f0837023f10b1363f8024aa3f07bef23f00be5040
// result1 f32 8 eac2003f9fc6503f8b629d3e1633043f0bd8943e4e3b803e6f46fd3e72c4473f
// result2 f32 8 bbaa1b3fb4c3733fe64db4bef22b20bfa47aa9be5fc28f3e3be0183f2cea6c3f
// result3 f32 8 bf3b4b3f3f659c3ed4996f3fcfb3473f7891713fa2b3753f51574d3fcbfbc13e
// result4 f32 8 e0f8123f1de6593f69b1b0be9ac216bf0178a6be53e88d3eed9b103f9a01543f
// result5 f32 8 78bac03e4737023fb51c03bfe6d98fbfb81ff1be2f435f3e677ebe3e9c33fe3e
// result6 f32 8 642b5e3fa6438a3f7f1736bfa4ac60bf2a3732bf5d64283f559c5c3f5558873f
// result7 f32 8 b0296c3f2ab62140b2be9abef091fbbee19d92beff91a83e0e7c653f00be1040
// result8 f32 8 000000000000803f000080bf000080bf000080bf00000000000000000000803f
// result9 f32 8 0000803f0000803f00000080000080bf00000080000000000000803f0000803f
// result10 f32 8 0000803f0000803f000080bf000080bf000080bf0000803f0000803f0000803f
// result11 f32 8 6615443f8e8147401aa5c0be45534dbfa59ab3bee7c8953e62973e3f00541c40
// result12 f32 8 3348073ffe1db53f82115d3e4b480e3f96aa483e367a1b3e1510033fb588a43f
// result13 f32 8 7367283f7d72473f466dd23ecd9fac3e7d38d53ec517123f7b9d273fbaed433f
// result14 f32 8 3bf84e3f76b38f3fbf92193fd27a523f14b2143f7d92083f94cb4c3f942c8b3f
// result15 f32 8 32b5d9be8af66c3ee4d082bf9f7cc8be24148bbfd5d9a0bfdc85e4bea6682b3e
// result16 f32 8 0000803f000000400000008000000080000000800000803f0000803f00000040
