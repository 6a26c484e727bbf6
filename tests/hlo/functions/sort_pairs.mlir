module @jit_sort_pairs attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7xi32>, %arg1: tensor<7xf32>) -> (tensor<7xi32> {jax.result_info = "result[0]"}, tensor<7xf32> {jax.result_info = "result[1]"}) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %1 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<7xi32>, tensor<7xf32>) -> (tensor<7xi32>, tensor<7xf32>)
    return %0#0, %0#1 : tensor<7xi32>, tensor<7xf32>
  }
}
// bound 0
// arg0 i32 7 03000000000000000200000001000000030000000100000000000000
// arg1 f32 7 c773343f742cabbe71284d3f1efd943e62358f3e72761b3fb25914bf
// result0 i32 7 00000000000000000100000001000000020000000300000003000000
// result1 f32 7 742cabbeb25914bf1efd943e72761b3f71284d3fc773343f62358f3e
