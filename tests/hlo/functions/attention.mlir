module @jit_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2x4x3xf32>, %arg1: tensor<2x2x4x3xf32>, %arg2: tensor<2x2x4x3xf32>) -> (tensor<2x2x4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x4xf32>
    %cst = stablehlo.constant dense<1.73205078> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
    %2 = stablehlo.divide %0, %1 : tensor<2x2x4x4xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<4x4xi1>
    %4 = call @tril(%3) : (tensor<4x4xi1>) -> tensor<4x4xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+30> : tensor<f32>
    %5 = call @_where(%4, %2, %cst_0) : (tensor<4x4xi1>, tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4x4xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x2x4xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<2x2x4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x2x4x4xf32>
    %12 = stablehlo.exponential %11 : tensor<2x2x4x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_3) applies stablehlo.add across dimensions = [3] : (tensor<2x2x4x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<2x2x4x1xf32>) -> tensor<2x2x4x4xf32>
    %16 = stablehlo.divide %12, %15 : tensor<2x2x4x4xf32>
    %17 = stablehlo.dot_general %16, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
    return %17 : tensor<2x2x4x3xf32>
  }
  func.func private @tril(%arg0: tensor<4x4xi1>) -> tensor<4x4xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %2 = stablehlo.add %0, %1 : tensor<4x4xi32>
    %3 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<4x4xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<4x4xi1>, tensor<4x4xi1>
    return %6 : tensor<4x4xi1>
  }
  func.func private @_where(%arg0: tensor<4x4xi1>, %arg1: tensor<2x2x4x4xf32>, %arg2: tensor<f32>) -> tensor<2x2x4x4xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x4x4xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>
    return %3 : tensor<2x2x4x4xf32>
  }
}
// bound 6e-07
// arg0 f32 2,2,4,3 eadec2bfe9ec843fa6e9fc3ec381fc3e9f6df3be41b4833f13b875befe578c3fe36269bf9fa85abf3c93513e0acc33bf5cea2c3f392a853ed7476cbf8f3a953dabdab3be05746a3ffeee21bf4cdbe0bed0099b3f1d450f4084dfff3f117b813d731b603e6048c43fadd7febd04f279bf795cef3d352de73e264354bfb4b7d2bfc1e6b7bf93592a3ff72442bf4bbd10befca8593e04801e3f6178abbeaa57ff3efeda63bf9532b9be0d2083bfc0dd903fa5ddddbc41433dbf146ab4beca0c63be
// arg1 f32 2,2,4,3 4455333fce3dccbf29c384bf4697c1be4c1122405fa7743fc740e4bd9b45363f09ad0340915a6fbe889abbbef7209b3f9204fd3e7ddc2b3fdd1a02bf4a4cf63fdfd3da3ff4e1103f9e2d2f3fa4be01c0f340233f67c446bee428de3ea9b52e3fcbbdaebeb561d8bf0e5abc3e52cb3dbf330fa9be28c11abfd2e2aebe31cf13c0ecc49b3f95b6813e55428e3f756bfd3f3615b93c3bb6e6bfc5d564bfd97b9abfdb7a00bf7b1ea33dd62300c0f358af3e5e53c1bf4240983ee53ce0bd4694a0be
// arg2 f32 2,2,4,3 999795bde42e0abfeeca1cbf9064d7bffcb4f2bc733aec3fdd80fd3f5231a93f6aaf343fcd2d2dbf0facb83f02e665bd9a0e8dbdb91b95be8556bc3d7dd4debefc95abbd25d48abfd950bfbea3f4114050878ebd6f6374beae49083f7947353ffa8f8ebf6f2154be20146b3f28288a3e0bc3f93d0deac63f84822dbfae76a93d912205bf6cc2be3f90d6f9bf688e2bbfd57607bfbcdd293fdf341b3fba95b23fe879c9bf211f403fc72896be6a662abf2a210a3f458e6bbf26ec04c0478dbdbe
// result f32 2,2,4,3 999795bde42e0abfeeca1cbff67946bf896aa2bedf72eb3e43b880bff83f953d03d6af3f5cd1dfbe3499b13e9488123f9a0e8dbdb91b95be8556bc3d055994be74252abe160d1ebff7aeaabed4ccbd3fc60f51be3447d5bea6d59fbd12cf80bffa8f8ebf6f2154be20146b3fb2beccbe4ffe18bd66869f3fd44f13bf088d84bc41a01c3f3590ddbe7db661be911b903ed57607bfbcdd293fdf341b3f0f50bdbd83791f3e8c95233fd963e23d8d1c52bf9c50183f0b05223cc3b449bf9820fa3e
