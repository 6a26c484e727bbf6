module @jit_cummax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x2xf32>) -> (tensor<9x2xf32> {jax.result_info = "result"}) {
    %0 = call @cummax(%arg0) : (tensor<9x2xf32>) -> tensor<9x2xf32>
    return %0 : tensor<9x2xf32>
  }
  func.func private @cummax(%arg0: tensor<9x2xf32>) -> tensor<9x2xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[8, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 9, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<9x2xf32>, tensor<f32>) -> tensor<9x2xf32>
    return %1 : tensor<9x2xf32>
  }
}
// bound 0
// arg0 f32 9,2 1065123f063ce4bfd2c69fbe578bd43e17b512bf42e408c04ee790be2d89403fbb4aca3fc8350cc0a8402740014690bf0bfc743f34fa9d3f06a77b3f9635193e55a994bf2866203f
// result f32 9,2 1065123f063ce4bf1065123f578bd43e1065123f578bd43e1065123f2d89403fbb4aca3f2d89403fa84027402d89403fa840274034fa9d3fa840274034fa9d3fa840274034fa9d3f
