module @jit_int_matmul attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xi32>, %arg1: tensor<4x3xi32>) -> (tensor<3x3xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xi32>, tensor<4x3xi32>) -> tensor<3x3xi32>
    return %0 : tensor<3x3xi32>
  }
}
// bound 6e-07
// arg0 i32 3,4 fbffffff07000000fafffffffffffffffcffffff07000000fafffffff9ffffff03000000f9ffffff0800000004000000
// arg1 i32 4,3 06000000fcffffff0400000001000000fefffffffffffffff7fffffff9fffffff9ffffff04000000fbffffff04000000
// result i32 3,3 1b000000350000000b000000090000004f000000f7ffffffd3ffffffb6ffffffebffffff
