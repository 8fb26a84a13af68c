// The file that a plugin is packed into unless another is named: that of its id, whatever its folder is called.

export const packedName = (id: string): string => `${id}.tatami.json`;
