module @by_hand_linear {
 func.func public @main(%a: tensor<2x3x3xf32>, %b: tensor<2x3x2xf32>, %c: tensor<2x2x3xf32>, %z: tensor<3x3xcomplex<f32>>, %y: tensor<3x2xcomplex<f32>>, %p: tensor<2x3x3xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>, tensor<3x2xcomplex<f32>>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %2 = "stablehlo.triangular_solve"(%a, %c) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %3 = "stablehlo.triangular_solve"(%a, %c) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<2x3x3xf32>, tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %4 = "stablehlo.triangular_solve"(%z, %y) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<3x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
  %5 = stablehlo.cholesky %p, lower = true : tensor<2x3x3xf32>
  %6 = stablehlo.cholesky %p, lower = false : tensor<2x3x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3x2xf32>, tensor<2x3x2xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>, tensor<3x2xcomplex<f32>>, tensor<2x3x3xf32>, tensor<2x3x3xf32>
 }
}
// bound 2e-5
// arg0 f32 2,3,3 28ad0c409884a9bf82527ebe9944d73e7e5a8440c0ade03d4b7a0dbf5ee748bf73eb6f402550944059a88b3eb7dd9dbfde5075bf5b3393406ac04f3e98b6ddbfe968abbd691beb3f
// arg1 f32 2,3,2 061921bfe6dbf9beb59b36bf36aa0d3f383381bdf8e416bf0dbcd13e6671543f974ed2bf227283be42127bbf9a4f31be
// arg2 f32 2,2,3 ac0ba5bfe77ea93c142e1bbd28d29bbe752286bf76d9cabeaab08bbf7b77adbf3b2e663e2eff8dbf43cc953f4a72373f
// arg3 f32 3,3,2 c5230040a63997bf7a548b3e50f03c3f0d058dbf24ab8cbf0267073df69ea9be6f658140402957bfde84febf0770b93f50066fbe6a76113fe9f682be81a11b40b5c89e40a254243f
// arg4 f32 3,2,2 7251583faa54413efe36573fd3dcadbce54a1bbf9df51b3f136b8fbd52d5babe8bd9ac3fc1041cbeb408cbbed632783e
// arg5 f32 2,3,3 2db5d440029592c0d2a08dbf029592c0925d8a417a4944c0d2a08dbf7a4944c01e976f411e9db84109f55bc0580f25c109f55bc0f5f4b041f1e0d23f580f25c1f1e0d23f7031cc40
// result0 f32 2,3,2 c89492be185863bef6cc12be941d203eab5db6bd090121be5902b53dbc58373eb372adbe74a597bcb39ceebeff01973d
// result1 f32 2,3,2 6f8b83be121890be16df33be12e9d43d0adc89bc050221be56833fbe1b17073e5ad9bbbe4ba06bbd04b108bf5a11c1bd
// result2 f32 2,2,3 5c2c16bf0f383bbef2aa32bda4c70dbee36b98bea163d9bdb71d71bef5b08fbe09e19abbfe1875be7b86893ead8a4c3e
// result3 f32 2,2,3 ac0ba5bffe14103f9c199ebe28d29bbe1a836bbf4ca7a4bfaab08bbfd7a919c05ee9eebf2eff8dbf12a3db3de01599bf
// result4 f32 3,2,2 1b68b53ead0eebbd1f159d3ea03c44beb52dd1bd43257a3e193be9bbd4c4a2bc3d575f3e3f2e1dbdfe4529bd3ec69dbd
// result5 f32 2,3,3 3b0125400000000000000000ec6ae3bff1a67040000000005ebbdbbed55b82bf2a586d40ebb899400000000000000000da2637bfd0bf944000000000c37009c02bc4c33cad3aaa3f
// result6 f32 2,3,3 3b012540ec6ae3bf5ebbdbbe00000000f1a67040d55b82bf00000000000000002a586d40ebb89940da2637bfc37009c000000000d0bf94402bc4c33c0000000000000000ad3aaa3f
