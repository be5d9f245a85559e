/* The note of a plugin from the time of a protocol's minor version, byte for byte. */
    .section .note.slipway, "a", %note
    .balign 4
    .incbin PROTOCOL_GOLDEN_NOTE
    .section .note.GNU-stack, "", %progbits
