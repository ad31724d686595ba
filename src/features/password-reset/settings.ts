import { boolean } from '../../config/kinds.ts'

export const resetSettings = {
  title: 'Password reset by e-mail',
  rows: {
    'service.auth.password-reset': boolean({ default: false, help: 'Offer password reset by e-mail.' }),
  },
} as const
