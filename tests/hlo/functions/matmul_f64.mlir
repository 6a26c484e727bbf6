module @jit_matmul_f64 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<4x3xf32>) -> (tensor<3x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32>
    return %0 : tensor<3x3xf32>
  }
}
// bound 6e-07
// arg0 f32 3,4 0000803f0000a040000080c0000010c100000040000080c00000a0c0000080bf0000c0400000c040000080400000a0c0
// arg1 f32 4,3 4523823f6d85b43f265a05bf5ce94f3fc4ef76be811980bd3e57afbd08e0acba3f968e3f4a99fd3d1e6c1dbe4a968dbe
// result f32 3,3 91c6894014f6cb3ff13d33c0fe3469bf2c847c405bb7c2c03f2f2041dce8f8406b9e1540
