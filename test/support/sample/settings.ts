import { integer, text } from '../../../src/config/kinds.ts'

export const sampleSettings = {
  title: 'Bells',
  rows: {
    'service.sample.strokes': integer({
      min: 0,
      max: 12,
      default: 0,
      help: 'Strokes of each bell; 0 switches bells off.',
    }),
    'service.sample.melody-file': text({ expects: 'the path of a file', help: 'What the bells play.' }),
  },
} as const
