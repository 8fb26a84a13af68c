export const text = {
  loadImage: (host: string) => `Load image from ${host}`,
  image: 'Image',
  task: 'Task',
  tooDeep: 'This part is nested too deeply to show.',
} as const;
