module @jit_inverse attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}, tensor<8xf32> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}, tensor<8xf32> {jax.result_info = "result[5]"}, tensor<8xf32> {jax.result_info = "result[6]"}, tensor<8xf32> {jax.result_info = "result[7]"}) {
    %0 = chlo.asin %arg0 : tensor<8xf32> -> tensor<8xf32>
    %1 = chlo.acos %arg0 : tensor<8xf32> -> tensor<8xf32>
    %2 = chlo.atan %arg0 : tensor<8xf32> -> tensor<8xf32>
    %3 = chlo.sinh %arg0 : tensor<8xf32> -> tensor<8xf32>
    %4 = chlo.cosh %arg0 : tensor<8xf32> -> tensor<8xf32>
    %5 = chlo.atanh %arg0 : tensor<8xf32> -> tensor<8xf32>
    %6 = chlo.asinh %arg0 : tensor<8xf32> -> tensor<8xf32>
    %7 = stablehlo.multiply %arg0, %arg0 : tensor<8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %9 = stablehlo.add %8, %7 : tensor<8xf32>
    %10 = call @arccosh(%9) : (tensor<8xf32>) -> tensor<8xf32>
    return %0, %1, %2, %3, %4, %5, %6, %10 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
  func.func private @arccosh(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = chlo.acosh %arg0 : tensor<8xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
// bound 2e-06
// arg0 f32 8 c750f83e4dc5f23ef4750b3fc573873eccc31cbf629256bdf394003eb3ed1cbe
// result0 f32 8 5da0013f12effc3e267c133f8e15893e37b728bf8aab56bd12ec003ea38c1dbe
// result1 f32 8 ac3f883f16d4893f8fa37e3f77caa63fbbb50e4037c5cf3f58f2b83f6fc1dc3f
// result2 f32 8 0334e73ef6b1e23e0e65ff3e276b843e6ba90cbf386056bd22d3ff3d8eb71bbe
// result3 f32 8 2815013f73f8fb3e3d76123fac09893e66bf26bf82ab56bd84eb003e218b1dbe
// result4 f32 8 ec598f3f23a98e3fc677933f6981843f35c2983ff92c803fac02813f8c81813f
// result5 f32 8 ac8c073fe9f2033fb6641c3f84c08a3e097336bfb6c456bd9c43013eb62c1ebe
// result6 f32 8 9a7cef3eb47cea3e2659053f84eb853e5a5314bf4a7956bd0e3f003e17521cbe
// result7 f32 8 71502c3fe399283f33a6403f5675be3e364c573fc4b0973da59a353e947f5d3e
