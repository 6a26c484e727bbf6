module @jit_batched_matmul attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2x4xf32>, %arg1: tensor<3x4x5xf32>) -> (tensor<3x2x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x2x4xf32>, tensor<3x4x5xf32>) -> tensor<3x2x5xf32>
    return %0 : tensor<3x2x5xf32>
  }
}
// bound 6e-07
// arg0 f32 3,2,4 dda9c4bf9d1bec3fb3515cbf65407d3e0eb04c3e5ea6b43f6d4de9be1509813f79ec3dbfeba18f3ff65243bf7973b9be08aff23f134aa23e50c9e03dbc7d0f40be03b93e60ee50bf95103c3f524197bfad6c903f7b5d9a3f74ad12bf2dbe20bf
// arg1 f32 3,4,5 89bd343e02eb673cbc497abf356e113f17ae02c0c19fddbe5ad1cebe76e98bbe744c9d3ed72f9dbfeda8163f4b7a38be907426bf29f4aebf207097bf7d7cb83ed1be76bf9b7a833d0fef873fa22d843f16bbc73fc2b397be2ae68abf94a0823f65849e3e9ddd8f3f8624353cee0a993fd9ac583f5c67373fe0e6003f349fcb3ef0a06e3ef753673e657d7d3f1a1103bfee2ade3fb195d9bd02427c3f5fd0b8bd03967cbe3f10024071629ebed77ba3bf17ce36bfb46ba2beaaee0940d4b7533e61496f3f6d3480bf1389b43e01e62b3fb69be63fc83e32bf497e1a3f47ec9a3e8cc782bfaf629fbc2fe686becad214c0
// result f32 3,2,5 6256bebfc7a559bf4a6ac93fdf00913f935109400d0bf6be0d79babfe06061be0e650f402aaa0fbfe6e3c2bd612c33bf64790040eb5bacbe9b2818bef0360e40e11e5840b90df2bfd1fd8d40d36e383f28e9913d36122d3f6a72883f6257b6bf96097040c4c586bf0dc4a44092538fbfd242803ef93766bf
