module @jit_vmap_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5xf32>) -> (tensor<2x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:2, 0:4:2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.slice %arg0 [0:2, 1:5:2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x2xf32>
    %3 = stablehlo.slice %2 [0:2, 0:1:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
    %4 = stablehlo.slice %2 [0:2, 1:2:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
    %5 = stablehlo.add %3, %4 : tensor<2x1xf32>
    %6 = stablehlo.slice %5 [0:2, 0:0] : (tensor<2x1xf32>) -> tensor<2x0xf32>
    %7 = stablehlo.slice %2 [0:2, 2:2:2] : (tensor<2x2xf32>) -> tensor<2x0xf32>
    %8 = stablehlo.add %6, %7 : tensor<2x0xf32>
    %9 = stablehlo.slice %2 [0:2, 0:1] : (tensor<2x2xf32>) -> tensor<2x1xf32>
    %10 = stablehlo.concatenate %9, %8, dim = 1 : (tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.pad %10, %cst, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.pad %5, %cst_0, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
    %13 = stablehlo.add %11, %12 : tensor<2x2xf32>
    %14 = stablehlo.slice %arg0 [0:2, 2:5:2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
    %15 = stablehlo.add %13, %14 : tensor<2x2xf32>
    %16 = stablehlo.slice %arg0 [0:2, 0:1] : (tensor<2x5xf32>) -> tensor<2x1xf32>
    %17 = stablehlo.concatenate %16, %15, dim = 1 : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.pad %17, %cst_1, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.pad %13, %cst_2, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
    %20 = stablehlo.add %18, %19 : tensor<2x5xf32>
    return %20 : tensor<2x5xf32>
  }
}
// bound 6e-07
// arg0 f32 2,5 226d34bf804a38bf4e76f13fe7d89abf9f7a86bf4f1b4fbfe772993fac7f0640f412aa3e27a237bf
// result f32 2,5 226d34bfd15bb6bff469ec3ed47c3fbf0939e6bf4f1b4fbffe94c73e4c721f40aab4344020cc0640
