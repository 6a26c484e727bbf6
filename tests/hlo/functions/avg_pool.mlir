module @jit_avg_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x6x6x2xf32>) -> (tensor<1x3x3x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<1x6x6x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
    %cst_0 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x3x2xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x3x3x2xf32>
    return %3 : tensor<1x3x3x2xf32>
  }
}
// bound 6e-07
// arg0 f32 1,6,6,2 71fbccbf0b41bc3f7bf119c0deab8dbf72048abe858968be751c2a3e4ffb8a3e1cbd5abe7e85913f8aeb08c05e812cb901ef36bf9ab1073ede0e623e9e6d69bf3c1524bff7e64a3f81b7b23ec3242ebf938d024091c91340f831bbbfde849a3e5d93204095ad483f975d623eda0c55beb58b0abf749d59be9afc0cbf50b23e3fccdacbbe9cdee1be67e099bfc11e4bbd28e564bf921639be365a853f825abb3ead35013f8c51b63e4062723d556202bec7989dbe7e55423f5fc88abfcc9cab3f70950b3dd4aa3fbf5b71fabe3e4f2dbf2c0d243e90c437bf5b31923f7e1948bf007111c0b8223bbf9c8b00c0854d23bd7d92873f96d3253f2236abbf2a2343bf44aae33fed13a33e19f6863b0f2d873fb6f91c401df6a53fdfc20e3eb099b53e
// result f32 1,3,3,2 030590bfbbadd4bd2f69cabde875203d8a45e3be3ada6f3f072d383ffad1423e7f2c07be24db423ed6823fbfeef6cd3ea0c63bbed324c5be1d72453fd0cfffbc702dd8be8261613e
