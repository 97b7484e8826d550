"""fuelbridge's guard: the platform's ids of invoices and payments are unique in the books."""
from trytond.pool import Pool

from . import invoice, move


def register():
    Pool.register(
        invoice.Invoice,
        move.Move,
        module='fuelbridge_guard', type_='model')
