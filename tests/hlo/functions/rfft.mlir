module @jit_rfft attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x10xf32>) -> (tensor<2x6xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x10xf32>) -> tensor<2x6xcomplex<f32>>
    return %0 : tensor<2x6xcomplex<f32>>
  }
  func.func private @fft(%arg0: tensor<2x10xf32>) -> tensor<2x6xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [10] : (tensor<2x10xf32>) -> tensor<2x6xcomplex<f32>>
    return %0 : tensor<2x6xcomplex<f32>>
  }
}
// bound 6e-07
// arg0 f32 2,10 b51b68bfeb6f80bf5f69cabe8cb2dabe23653e3f9949ccbe42304abe67f09bbf7481d23fddc9013fccf9e43fb5004c3f64acbe3f84737ebeda97373f04272d40c79c9cbffb8f963f3c56d93f099ed73e
// result f32 2,6,2 a274d3bf0000000088dae9bec7d8c23fb64178bf88b87f400ebf21c0b84645be76f5bbbf6130a0bf1b805b40000000006024154100000000769f963f3c28443e1d44b13f2ef9453f10c651c0186e4ac07e17a6409ae90440802fc3be00000000
