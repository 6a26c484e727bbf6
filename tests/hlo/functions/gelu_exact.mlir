module @jit_gelu_exact attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf32>) -> (tensor<9xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<9xf32>
    %2 = stablehlo.negate %arg0 : tensor<9xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<9xf32>
    %5 = chlo.erfc %4 : tensor<9xf32> -> tensor<9xf32>
    %6 = stablehlo.multiply %1, %5 : tensor<9xf32>
    return %6 : tensor<9xf32>
  }
}
// bound 6e-07
// arg0 f32 9 7a6cf9bd043f28be2be7df3e10fb853fa720fbbe204452bfce02d2bfbd1b6dbf3054093f
// result f32 9 033f61bdef4992bdc9cd953e1f68643fbca61cbeb7062dbe0f73a9bda90828be1468c13e
