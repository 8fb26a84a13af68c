export const text = {
  loadImage: (host: string) => `Load image from ${host}`,
  image: 'Image',
  task: 'Task',
  mentions: 'Members',
  found: (count: number) => `${count} ${count === 1 ? 'member' : 'members'} found`,
  tooComplex: 'This text is too complex to format. Its source is shown.',
  tooDeep: 'This part is nested too deeply to show.',
} as const;
