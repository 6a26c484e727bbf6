func.func @main(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.exponential %a : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
// bound 3e-6
// arg0 f32 4,2 0000b242c3f5483f0000b242b4c816c0cdccb14233331340000080bf00000040
// result f32 4,2 99ed6e7fe9bc6e7f5dc96eff27e16eff71a04bffdfe6637f1dc41cbe2245ab3e
