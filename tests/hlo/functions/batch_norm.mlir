module @jit_batch_norm attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4x4xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>) -> (tensor<2x3x4x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x4x4xf32>, tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %cst_0 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x1x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1x3x1x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x4x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x4x4xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<2x3x4x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<2x3x4x4xf32>, tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<3xf32>) -> tensor<1x3x1x1xf32>
    %cst_2 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x3x1x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<1x3x1x1xf32>
    %11 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x4x4xf32>
    %12 = stablehlo.subtract %arg0, %11 : tensor<2x3x4x4xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x3x1x1xf32>
    %14 = stablehlo.add %10, %13 : tensor<1x3x1x1xf32>
    %15 = stablehlo.sqrt %14 : tensor<1x3x1x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x4x4xf32>
    %17 = stablehlo.divide %12, %16 : tensor<2x3x4x4xf32>
    %18 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<3xf32>) -> tensor<3x1x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [1, 2, 3] : (tensor<3x1x1xf32>) -> tensor<1x3x1x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x4x4xf32>
    %21 = stablehlo.multiply %17, %20 : tensor<2x3x4x4xf32>
    %22 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<3xf32>) -> tensor<3x1x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [1, 2, 3] : (tensor<3x1x1xf32>) -> tensor<1x3x1x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<2x3x4x4xf32>
    %25 = stablehlo.add %21, %24 : tensor<2x3x4x4xf32>
    return %25 : tensor<2x3x4x4xf32>
  }
}
// bound 6e-07
// arg0 f32 2,3,4,4 7728064062dd453f0ed2813e14af1d3e14c1e43fc45b6dbfa289e3bd54a0eb3edb763e3f71e9dfbe3b599d3eb94b8ebe92b9f63d014307bebe1f92bf66f6acbc018d603f838e77bfc1e076be072f2a3f57f188bf8b053b3e55b287bf923b913f44051440a16c0140e67060beb17d3d3fa8cdf73de51cd13de71cc63fe0daa8bfe513873f0e9b48bd0f4bb43f1bba3f3e3b342cbf58e58d3e57683c3fee7c123d27e0f93e818c05bf8e9108c0f267663f22fc323f13bc173ed61a8c3d57a5843fe509eabe6bdf34bf381341be5634983fea8cb1bfe38d983f13a623bf2ae58cbfb549a13f506ec6bd146ea6bfdcabb7be74596e3fe395983faeacdabe4609d03e40ce363f3e0625bf4ac7b53e6b9202bde53809bfd0fafbbe6049893d4d8ff43cf3c310bf7a15dabed6818e3f80f55a3e8b95623f50d5993f5ebe163f34561140204753bfeef34e3fc4e3a2be4e8aed3f06a8d93f9823fabf9e0778bf69102a3fbd344a3f798f3c3fd72191bd9905e93e6a2c273ff97a9fbda27e833f9a9b10c0
// arg1 f32 3 4b40223fd65b84bfe96b753f
// arg2 f32 3 402c6abe908763bf1a70bf3e
// result f32 2,3,4,4 0b0a9c3f171f853e405feebd0b1441be02bc7e3fbbdc78bfbde7c2be2eb5083d08ca743e6dfa1dbfd2919ebd306700bfcef359be90b1cabe475290bf7283a1be3937c3bf0c51013f0a8c96be004aa5bf5c4d1e3fd5b142bff78e1b3fae7fe7bf3dc346c0354a32c0c5e5a2beb7eaafbf825231bf7aff2bbf89db10c03791643fdd999b3f70c2183ea044c73f622dc13e4a04e8be1ca2ed3ef540683fb18f6c3e22f52a3f9d5a9dbe55a2eebf2f68883f5c275f3facddad3e666c863ea140993fdaa521bfc3ec4fbfb4a4dfbefcc60f3feb18a7bfca48103f247143bf28888cbf8ff11c3fada1bdbeb5099fbf72650fbf91cdbf3e6354103f92141cbffa0dbabba53cacbfdad2193e344873bfa53c06bfd624fb3c219090bc1a1d22bf85a217bf9038813de567b9bd897fe4bf157c4bbfc155c4bf99f7f0bf93969abfd8ce43c07abe19bff6297a3fd1dbe2bdfc8dfe3f075aeb3f706cd8bfc53c3dbfd889563f6294753fc066683fc91c033ebbd1223f30bf533f3a5ef83d0324983f7629febf
